"""Who may see what: labels, callers, and what is said before a run over documents that not everyone may see."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import here
from texts import loaded, rows, write

from loadrig.arms.escalate import Escalate
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.arms.route import Route
from loadrig.corpus.rights import check, rights_of, told
from loadrig.execution.prepare import Prepared, prepare
from loadrig.words.corpus import Corpus, Question, sees
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings, QuestionSettings
from plans import plan

FILES = {
    "a.md": "red valve", "b.md": "blue valve", "c.md": "green valve",
    "manifest.jsonl": rows(
        {"id": "a", "file": "a.md", "access": ["red"]},
        {"id": "b", "file": "b.md", "access": ["blue", "red"]},
        {"id": "c", "file": "c.md"},
    ),
}  # fmt: skip


@pytest.fixture
def valves(tmp_path: Path) -> Corpus:
    return loaded(tmp_path, FILES)


def asked(identity: str, caller: tuple[str, ...], *gold: str) -> Question:
    return Question(identity, "fact", "Which valve?", "", gold=gold, caller=caller)


def prepared(folder: Path, *arms: object, **more: object) -> Prepared:
    """A plan over three valves and one question."""
    write(folder / "valves", FILES)
    line = {"id": "q1", "category": "fact", "question": "Which valve?", "reference": "Red.", "gold": ["a"], **more}
    write(folder, {"q.jsonl": rows(line)})
    of = CorpusSettings(path=str(folder / "valves")), QuestionSettings(path=str(folder / "q.jsonl"))
    return prepare(plan(*arms, corpus=of[0], questions=of[1]))


@pytest.mark.parametrize(
    ("caller", "access", "expected"),
    [
        (("red",), ("red", "blue"), True),
        (("red",), ("blue",), False),
        (("red",), (), True),
        ((), (), True),
        ((), ("red",), False),
        (("*",), ("red",), True),
        (("RED",), ("red",), False),
        (("red ",), ("red",), False),
        (("r",), ("red",), False),
    ],
)
def test_a_label_opens_what_bears_it_and_nothing_else(
    caller: tuple[str, ...], access: tuple[str, ...], *, expected: bool
) -> None:
    """Who names no label sees what is open to all; the star sees everything; labels are the same to the letter."""
    assert sees(caller, access) is expected


@pytest.mark.parametrize(
    ("callers", "expected"),
    [([("red",)], False), ([("*",)], False), ([("blue",)], True), ([("red",), ("blue",)], True), ([()], True)],
)
def test_rights_are_mixed_when_someone_who_asks_may_not_see_all(
    valves: Corpus, callers: list[tuple[str, ...]], *, expected: bool
) -> None:
    """Red may see all three documents, blue two of them, nobody one."""
    assert rights_of(valves, [asked("q", caller) for caller in callers]).mixed is expected


def test_a_corpus_without_labels_is_everyones(tmp_path: Path) -> None:
    """No caller can make its rights mixed, and none is missed."""
    rights = rights_of(loaded(tmp_path, {"a.md": "x"}), [asked("q", ()), asked("r", ("red",))])
    assert (rights.mixed, told(rights)) == (False, ())


def test_the_whole_of_a_corpus_is_not_shown_where_rights_are_mixed_unless_told(valves: Corpus) -> None:
    """Full context is refused with the way out; with the option, and where all may see all, it is not; others never."""
    mixed, uniform = (rights_of(valves, [asked("q", (label,))]) for label in ("blue", "red"))
    with pytest.raises(InputError) as caught:
        check([Rag(), FullContext()], mixed)
    assert caught.value.problem.startswith("full_context: the whole of a corpus in the prompt")
    assert "(2 of 3 documents have labels)" in caught.value.problem
    assert "mixed_rights = true" in caught.value.remedy
    check([Rag(), FullContext(mixed_rights=True)], mixed)
    check([Rag(), FullContext()], uniform)


def test_an_arm_made_of_others_is_asked_for_each_of_them(valves: Corpus) -> None:
    """A router that may show the whole is refused until the arm in it is told."""
    mixed = rights_of(valves, [asked("q", ("blue",))])
    with pytest.raises(InputError, match="route"):
        check([Route()], mixed)
    check([Route(full_context=FullContext(mixed_rights=True))], mixed)
    check([Escalate(to="agentic", full_context=FullContext(mixed_rights=True))], mixed)


def test_a_plan_that_would_show_the_whole_is_stopped_before_anything_is_built(tmp_path: Path) -> None:
    """C-12: the mistake is an error of the plan; said so, the run is prepared, and the sample holds two documents."""
    with pytest.raises(InputError, match="not everyone who asks may see all of it"):
        prepared(tmp_path, FullContext(), caller=["blue"])
    (sample,) = prepared(tmp_path, FullContext(mixed_rights=True), caller=["blue"], gold=["b"]).samples
    assert sample.prompt is not None
    shown = sample.prompt.messages[0].parts[0].text  # type: ignore[union-attr]
    assert ('id="a"' in shown, 'id="b"' in shown, 'id="c"' in shown) == (False, True, True)


def test_questions_of_nobody_and_of_callers_who_may_not_see_the_answer_are_named(tmp_path: Path) -> None:
    """Both, with what they see and what is right to answer; a caller who sees the gold document is not mentioned."""
    assert prepared(tmp_path, Rag(k=1)).warnings == (
        "1 question (q1) has no caller: of 3 documents only the 1 without labels are shown; "
        'name a caller, or ["*"] for all',
        "1 question (q1) has gold documents that the caller may not see: right is only to say that what may be seen "
        "does not tell",
    )
    assert prepared(tmp_path, Rag(k=1), caller=["red"]).warnings == ()
    assert prepared(tmp_path, Rag(k=1), caller=["*"]).warnings == ()


def test_other_labels_make_another_corpus(tmp_path: Path) -> None:
    """A run is not taken up over documents that others may see now; documents without labels keep the hash they had."""
    open_to_all = loaded(tmp_path / "a", {"x.md": "x"}).sha256
    hashes = [
        loaded(tmp_path / name, {"x.md": "x", "manifest.jsonl": rows({"id": "x.md", "file": "x.md", "access": labels})})
        for name, labels in (("b", []), ("c", ["red"]), ("d", ["blue"]), ("e", ["red", "blue"]), ("f", ["blue", "red"]))
    ]
    assert [one.sha256 == open_to_all for one in hashes] == [True, False, False, False, False]
    assert len({one.sha256 for one in hashes}) == 4
    assert hashes[3].sha256 == hashes[4].sha256


def test_a_document_cannot_bear_the_label_that_opens_everything(tmp_path: Path) -> None:
    """A star on a document would mean two things: left out, the document is open to all."""
    listed = rows({"id": "a", "file": "a.md", "access": ["*"]})
    with pytest.raises(InputError, match="is a caller's label"):
        loaded(tmp_path, {"a.md": "x", "manifest.jsonl": listed})


def test_the_command_names_the_arm_and_the_way_out(tmp_path: Path) -> None:
    """Exit code 2, before anything is sent or written; the overrides name the labelled corpus."""
    prepared(tmp_path, Rag(), caller=["blue"])
    of = ("--corpus", tmp_path / "valves", "--questions", tmp_path / "q.jsonl", "--arm", "full_context")
    called = here("run", "plans/quickstart.toml", *of, "--out", tmp_path / "results")
    assert called.code == 2
    assert "full_context: the whole of a corpus in the prompt" in " ".join(called.err.split())
    assert "mixed_rights = true" in called.err
    assert not (tmp_path / "results").exists()
