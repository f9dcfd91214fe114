"""`loadrig corpus check`: exit codes, what it says of corpora that promise less, and what it cannot check."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import loadrig
from ledgered import APRIL, BASE, World, hardened
from texts import rows, write

from loadrig.commands import corpus as command
from loadrig.corpus import checks
from loadrig.corpus.rules.subject import prepare
from loadrig.graders.precheck import passes
from loadrig.words.errors import InputError

PLAIN = {"id": "q", "category": "fact", "question": "Who signs?", "reference": "The warden.", "gold": ["a.md"]}


def shown(capsys: pytest.CaptureFixture[str], *paths: str, code: int) -> str:
    assert command.check(*paths, None) == code
    return capsys.readouterr().out


def test_a_folder_without_anything_says_what_was_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No dates, no ledger, no quotes: no finding, and each of these is given as a reason, with the rules it stops."""
    write(tmp_path, {"c/a.md": "The warden signs.", "key.jsonl": rows(PLAIN)})
    out = shown(capsys, str(tmp_path / "c"), str(tmp_path / "key.jsonl"), code=0)
    assert "not checked: date in text: no document has a date\n" in out
    assert "not checked: quotes: questions without evidence: 1\n" in out
    assert "not checked: references pass: questions without must_contain, which any answer passes: 1\n" in out
    assert "not checked: ledger documents, dates rise, canary, " in out
    assert "last mention misleads: there is no ledger.json\n" in out


def test_a_set_without_references_is_for_recall(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As BEIR's are: no finding a line, but a note that answers cannot be graded."""
    write(tmp_path, {"c/a.md": "The warden signs.", "key.jsonl": rows({**PLAIN, "reference": ""})})
    out = shown(capsys, str(tmp_path / "c"), str(tmp_path / "key.jsonl"), code=0)
    assert "note (question ids): no question has a reference answer" in out


def test_a_caller_who_sees_nothing_of_a_slice_is_no_fault(tmp_path: Path) -> None:
    """His label stands on a document outside it."""
    listed = rows({"id": "a", "file": "a.md", "access": ["staff"]}, {"id": "b", "file": "b.md", "access": ["crew"]})
    write(tmp_path, {"c/a.md": "The warden signs.", "c/b.md": "Ropes.", "c/manifest.jsonl": listed})
    write(tmp_path, {"c/slices.json": '{"small": {"docs": ["a"]}}'})
    write(tmp_path, {"key.jsonl": rows({**PLAIN, "gold": [], "caller": ["crew"]})})
    assert command.check(str(tmp_path / "c"), str(tmp_path / "key.jsonl"), "small") == 0


def test_a_caller_who_sees_everything_has_no_label_of_a_document(tmp_path: Path) -> None:
    """The star is nobody's label and no fault; whoever bears it may see the gold document, nobody may not."""
    listed = rows({"id": "a.md", "file": "a.md", "access": ["staff"]})
    write(tmp_path, {"c/a.md": "The warden signs.", "c/manifest.jsonl": listed})
    asked = rows({**PLAIN, "caller": ["*"]}, {**PLAIN, "id": "r", "question": "Who, then, signs?", "caller": []})
    write(tmp_path, {"key.jsonl": asked})
    report = checks.check(prepare(str(tmp_path / "c"), str(tmp_path / "key.jsonl"), passes))
    assert [str(finding) for rule, finding in report.findings if rule == "callers"] == []
    assert [str(note).split(": ", 1)[1] for rule, note in report.notes if rule == "callers"] == [
        "r: its caller may not see gold document a.md"
    ]


def test_fields_of_other_makers_are_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A derivation in another language, and `fact` or `refusal` of other types, are left alone and named."""
    row = {**PLAIN, "derivation": "sorted(M)", "fact": 7, "refusal": True, "subtype": 2, "decided": "2031-01-01"}
    write(tmp_path, {"c/a.md": "The warden signs.", "key.jsonl": rows(row)})
    out = shown(capsys, str(tmp_path / "c"), str(tmp_path / "key.jsonl"), code=0)
    assert "not checked: derivations: answers whose derivation is in a language of its own: 1\n" in out


def test_a_time_that_a_run_would_refuse_is_refused(tmp_path: Path) -> None:
    """`at_s` is a field of a question as the others are: a text there is named with its line."""
    write(tmp_path, {"c/a.md": "The warden signs.", "key.jsonl": rows({**PLAIN, "at_s": "soon"})})
    with pytest.raises(InputError, match=r"key\.jsonl:1: .*at_s"):
        command.check(str(tmp_path / "c"), str(tmp_path / "key.jsonl"), None)


def test_without_a_ledger_what_only_ours_promises_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stale value in other words, a date at the top that is another, and a paraphrase in the text's words."""
    row = {**PLAIN, "category": "paraphrase", "stale": ["the mayor"], "question": "Who is the warden who signs?"}
    row["evidence"] = [{"doc": "a", "quote": "The warden signs"}]
    manifest = rows({"id": "a", "file": "a.md", "date": "2031-02-02"})
    write(tmp_path, {"c/a.md": "1 February 2031. The warden signs.", "c/manifest.jsonl": manifest})
    write(tmp_path, {"key.jsonl": rows({**row, "gold": ["a"]})})
    out = shown(capsys, str(tmp_path / "c"), str(tmp_path / "key.jsonl"), code=0)
    assert "1 of 1 stale values stand in no document word for word, such as 'the mayor'" in out
    assert "1 of 1 dated texts state near their top only dates other than the manifest's" in out
    assert "1.00 on average" not in out
    assert "1.00 at most, 1 above 0.10" in out


def test_all_findings_are_named_and_the_command_exits_with_two(tmp_path: Path) -> None:
    """Two faults of one line and one of another, each with file, line and remedy; nothing is a trace."""
    faulty = {**PLAIN, "gold": ["b.md"], "must_contain": ["mayor"]}
    write(tmp_path, {"c/a.md": "The warden signs.", "key.jsonl": rows(faulty, {**PLAIN, "question": "Who?"})})
    called = loadrig("corpus", "check", tmp_path / "c", tmp_path / "key.jsonl")
    key = tmp_path / "key.jsonl"
    assert (called.code, called.err) == (2, "")
    assert called.out.splitlines()[:3] == [
        f"{key}:2: question id 'q' occurs twice, first in line 1; give each question its own id",
        f"{key}:1: q: gold document 'b.md' is not in the corpus; did you mean 'a.md'?",
        f"{key}:1: q: the reference lacks 'mayor' of its own must_contain; "
        "add the reference's wording as an alternative",
    ]


def test_a_question_without_the_projects_name_is_noted(tmp_path: Path) -> None:
    """It may be meant so, and is no finding."""
    world = World()
    world.question("climb")["question"] = "How high does one climb?"
    report = checks.check(prepare(*world.write(tmp_path), passes))
    noted = [str(note) for rule, note in report.notes if rule == "project named"]
    assert (len(report.findings), noted) == (
        0,
        [f"{tmp_path / 'key.jsonl'}:3: climb: the question names nothing of the project's own"],
    )


def test_a_hop_that_one_text_could_make_is_noted(tmp_path: Path) -> None:
    """The quotes need both papers; that one whole text holds all the words may be chance."""
    world = World()
    world.docs[APRIL] += "\nThe telegram of March was late.\n"
    report = checks.check(prepare(*world.write(tmp_path), passes))
    assert report.findings == []
    assert [str(note) for rule, note in report.notes if rule == "multi-hop"] == [
        f"{tmp_path / 'key.jsonl'}:5: hop: the whole text of {APRIL} holds all of must_contain"
    ]


def test_a_caller_who_may_not_see_gold_is_noted(tmp_path: Path) -> None:
    """What such a caller gets told is worth asking, so it is no fault."""
    world = World()
    world.manifest[APRIL]["access"] = ["board"]
    notes = [str(note) for _, note in checks.check(prepare(*world.write(tmp_path), passes)).notes]
    assert f"{tmp_path / 'key.jsonl'}:6: trap: its caller may not see gold document {APRIL}" in notes


def test_a_slice_is_checked_without_the_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four questions need a paper outside it and one was derived from the whole: one is left, and it says why."""
    folder, key = World().write(tmp_path)
    write(tmp_path, {"corpus/slices.json": f'{{"small": {{"docs": ["{BASE}"]}}}}'})
    assert command.check(folder, key, "small") == 0
    out = capsys.readouterr().out
    assert "ledger.json speaks of the whole corpus, not of a slice" in out
    assert "1 questions, 5 left out of this slice, " in out


def test_a_requote_that_would_break_a_count_is_spared(tmp_path: Path) -> None:
    """Every later paper is silent about the bell, and questions count on that."""
    world = hardened()
    world.docs["kzm"] = world.docs["kzm"].replace("The bell is taken off the lantern", "It is taken off")
    world.ledger["topics"].append({"id": "taking", "about": "", "words": ["is taken off the lantern"], "docs": ["btx"]})
    report = checks.check(prepare(*world.write(tmp_path), passes))
    assert report.findings == []
    assert any("as each is silent about taking" in note.text for rule, note in report.notes if rule == "requoted")


def test_a_question_that_names_a_date_may_ask_for_an_older_state(tmp_path: Path) -> None:
    """On 10 February the lantern burned for 9 hours; which state a date means is not checked, and it says so."""
    world = World()
    asked = {"question": "On 10 February 2031, how long did the Pellwick lantern burn?", "reference": "9 hours."}
    world.question("burn").update(asked, must_contain=["9"], stale=["12 hours"], amending=[BASE])
    report = checks.check(prepare(*world.write(tmp_path), passes))
    assert report.findings == []
    assert ("amending is last", "which state is meant, where a question names a date: 1") in [
        (rule, one.reason) for rule, one in report.unchecked
    ]
