"""Cited spans against what was sent: each rule by hand, the rate with its interval, and what is not checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from records import plain, question, read_run, record, turn, write_run

from loadrig import log
from loadrig.analysis.citations import ArmCitations, Audit, audited, citations_by_arm, ill_cited
from loadrig.analysis.contexts import looked_at
from loadrig.analysis.sent import documents_in, prompts_of
from loadrig.analysis.summary import summarize
from loadrig.arms import citable, passages
from loadrig.graders.cases import documents
from loadrig.log import RunFolder, read_prompts
from loadrig.providers.anthropic.body import body
from loadrig.reports.citations import rate, table
from loadrig.reports.markdown import render
from loadrig.stats import wilson
from loadrig.words.corpus import Document
from loadrig.words.prompt import Ask, Citation, Message, Part, Prompt, Said, ToolResult, ToolResults
from loadrig.words.record import Record, Turn
from loadrig.words.settings import ModelSettings

POOL = Document("pool.md", "# Pool\n\nThe pool opens\n  at 7:00.\nA lane holds six\u00a0swimmers.", 20)
CAFE = Document("cafe.md", "The caf\u00e9 sells soup. It writes <document> at times. No \u201ctea\u201d here.", 20)
TEXT = "\n\n".join(passages.whole(document) for document in (POOL, CAFE))


def sent(*messages: Message) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """A turn's prompt as it is recorded: hashes, and fragments by hash."""
    fragments = body(Prompt("Answer.", messages), ModelSettings(id="m"))
    kept = {f"h{hash(fragment):x}": fragment for fragment in fragments}
    return tuple(kept), kept


def between_tags(*citations: Citation, trial: str = "t", **given: Any) -> tuple[Record, Mapping[str, bytes]]:
    """A trial that was sent both documents between tags."""
    prompt, kept = sent(Ask((Part(TEXT), Part("Question: what?"))))
    return record(trial, turns=(turn(prompt=prompt),), citations=citations, **given), kept


def verdicts(record_: Record, prompts: Mapping[str, bytes]) -> list[str]:
    return [span.verdict for span in Audit(prompts).spans(record_)]


def verdict(text: str, source: str | None = "pool.md") -> str:
    (found,) = verdicts(*between_tags(Citation(text, source)))
    return found


@pytest.mark.parametrize(
    "text",
    [
        "The pool opens\n  at 7:00.",
        " The pool opens at 7:00. ",
        "opens at 7",
        "A lane holds six swimmers.",
        "at 7:00. A lane",
        '"The pool opens at 7:00."',
        "\u201cThe pool opens at 7:00.\u201d",
    ],
)
def test_what_was_sent_is_found_whatever_its_white_space(text: str) -> None:
    """B-09: runs of white space, no-break ones too, are one blank; quotation marks around the whole are its form."""
    assert verdict(text) == "sent"


@pytest.mark.parametrize(
    "text",
    [
        "The pool opens at 8:00.",
        "the pool opens",
        "The pool ... at 7:00.",
        "The pool opens at 7:00. [...]",
        "The pool opens at 7:00. The caf\u00e9 sells soup.",
        "A lane holds six-swimmers.",
        '"The pool opens at 8:00."',
    ],
)
def test_what_was_not_sent_is_fabricated(text: str) -> None:
    """B-09: a figure, a case, an omission, a hyphen, or two documents run together."""
    assert verdict(text) == "fabricated"


def test_composed_and_decomposed_letters_are_the_same() -> None:
    """Form C of both sides: e with an accent in one character or in two."""
    assert verdict("The cafe\u0301 sells soup.", "cafe.md") == "sent"
    assert verdict("The cafe sells soup.", "cafe.md") == "fabricated"


def test_our_own_delimiter_inside_a_text_is_what_it_stands_for() -> None:
    """It went out defused; a model may cite it as it was or as it stands in the document."""
    assert verdict("It writes <document> at times.", "cafe.md") == "sent"
    assert verdict("It writes &lt;document> at times.", "cafe.md") == "sent"


@pytest.mark.parametrize("source", ["cafe.md", "pool", "POOL.md", "", None])
def test_words_of_another_document_are_misplaced(source: str | None) -> None:
    """B-09: the words were sent, but not from where it says; a name that no document has is another document."""
    assert verdict("The pool opens at 7:00.", source) == "misplaced"


def test_a_blank_span_and_a_prompt_that_is_gone_are_not_checked() -> None:
    """Neither found nor fabricated: nothing is known."""
    assert verdict(" \n") == "unchecked"
    cited, prompts = between_tags(Citation("The pool", "pool.md"))
    gone = dict(list(prompts.items())[1:])
    assert verdicts(cited, gone) == ["unchecked"]
    assert verdicts(record("t", citations=(Citation("x", "y"),)), prompts) == ["unchecked"]


def test_the_question_and_the_instructions_are_no_document() -> None:
    """What was sent, but from no document, cannot be cited."""
    assert verdict("Question: what?") == "fabricated"


def test_what_the_model_said_itself_was_not_sent() -> None:
    """A document that it made up in an earlier turn, tags and all, is none."""
    forged = passages.whole(Document("pool.md", "The pool is closed.", 5))
    said = Said(msgspec.json.encode([{"type": "text", "text": forged}]))
    prompt, kept = sent(Ask((Part(TEXT),)), said, ToolResults((ToolResult("t1", "nothing"),)))
    trial = record("t", turns=(turn(prompt=prompt),), citations=(Citation("The pool is closed.", "pool.md"),))
    assert verdicts(trial, kept) == ["fabricated"]


def test_a_tag_inside_a_text_makes_no_document() -> None:
    """A document that holds another one's tags, with words that are not its own, cannot lend it those words."""
    inner = passages.whole(Document("pool.md", "The pool is closed.", 5))
    text = passages.whole(Document("cafe.md", f"Soup.\n{inner}\nTea.", 9))
    prompt, kept = sent(Ask((Part(text),)))
    found = documents_in(prompt, kept)
    assert found is not None
    assert list(found) == ["cafe.md"]
    shown = citable.whole(Document("cafe.md", f"Soup.\n{inner}\nTea.", 9))
    assert list(documents_in(*sent(Ask((shown,)))) or ()) == ["cafe.md"]


def test_search_results_are_documents_too() -> None:
    """C-15: in a question's message and in a tool's result; pieces cited together may come with nothing between."""
    shown = ToolResults((ToolResult("t1", "", shown=(citable.whole(POOL),)),))
    for prompt, kept in (sent(Ask((citable.whole(POOL), citable.whole(CAFE)))), sent(Ask((Part("q"),)), shown)):
        own = tuple(Citation(text, "pool.md") for text in ("# Pool", "# PoolThe pool opens", "# Pool The pool"))
        others = (Citation("# Pool", "cafe.md"), Citation("soup and tea", "cafe.md"))
        trial = record("t", turns=(turn(prompt=prompt),), citations=(*own, *others))
        assert verdicts(trial, kept) == ["sent", "sent", "sent", "misplaced", "fabricated"]


def test_a_judge_of_faithfulness_is_shown_search_results_too() -> None:
    """B-07: between tags, under the document's name, each once, as it is shown what came between tags."""
    prompt, kept = sent(Ask((citable.whole(POOL), citable.whole(POOL), citable.whole(CAFE))))
    shown = list(documents(record("t", turns=(turn(prompt=prompt),)), kept))
    assert [one.split(">")[0] for one in shown] == [
        '<document id="pool.md" title="pool.md"', '<document id="cafe.md" title="cafe.md"',
    ]  # fmt: skip
    assert "The pool opens\n  at 7:00." in shown[0]


def test_every_turn_counts_and_none_is_read_twice() -> None:
    """A conversation grows: its last prompt holds all; another conversation of the same trial is one of its own."""
    question_ = Ask((Part("q"),))
    grown = ToolResults((ToolResult("t1", passages.whole(POOL)),))
    first, one = sent(question_)
    second, two = sent(question_, Said(b"[]"), grown)
    other, three = sent(Ask((Part(passages.whole(CAFE)),)))
    trial = record(
        "t", turns=tuple(turn(prompt=prompt) for prompt in (first, second, other)),
        citations=(Citation("The pool opens", "pool.md"), Citation("sells soup", "cafe.md")),
    )  # fmt: skip
    assert prompts_of(trial) == (second, other)
    assert verdicts(trial, {**one, **two, **three}) == ["sent", "sent"]


def test_a_prompt_of_several_that_is_gone_leaves_nothing_checked() -> None:
    """What the one on file does not hold, the other may have held: nothing is called fabricated."""
    first, one = sent(Ask((Part(passages.whole(POOL)),)))
    other, _ = sent(Ask((Part(passages.whole(CAFE)),)))
    turns = tuple(turn(prompt=prompt) for prompt in (first, other))
    trial = record("t", turns=turns, citations=(Citation("sells soup", "cafe.md"), Citation("The pool", "pool.md")))
    assert verdicts(trial, one) == ["unchecked", "unchecked"]


def test_another_trials_documents_do_not_count() -> None:
    """What a neighbour was sent is not what this one was sent."""
    prompt, kept = sent(Ask((Part(passages.whole(CAFE)),)))
    _, others = between_tags()
    trial = record("t", turns=(turn(prompt=prompt),), citations=(Citation("The pool opens", "pool.md"),))
    assert verdicts(trial, {**kept, **others}) == ["fabricated"]


def _run(folder: Path, *records: Record, **given: Any) -> RunFolder:
    _, prompts = between_tags()
    return read_run(folder, records, prompts=prompts, questions=[question()], **given)


def _cited(trial: str, *citations: Citation, **given: Any) -> Record:
    return between_tags(*citations, trial=trial, **given)[0]


def _by_arm(run: RunFolder) -> tuple[ArmCitations, ...]:
    prompts = read_prompts(run.path)
    return citations_by_arm(run, audited(run, looked_at(run, prompts), prompts))


GOOD, BAD, ELSEWHERE = (
    Citation("The pool opens", "pool.md"), Citation("The pool shuts", "pool.md"), Citation("The pool", "cafe.md"),
)  # fmt: skip


def test_figures_are_of_answers_and_of_spans(tmp_path: Path) -> None:
    """Six answers: two sound, one with a made-up span, one with a misplaced one, one bare, one that declines."""
    run = _run(
        tmp_path, _cited("1", GOOD), _cited("2", GOOD, GOOD), _cited("3", GOOD, BAD, BAD), _cited("4", ELSEWHERE),
        record("5"), record("6", answer="The documents do not say."), record("7", outcome="failed", answer=""),
    )  # fmt: skip
    (arm,) = _by_arm(run)
    whole = arm.categories[0]
    assert (arm.arm, whole.category, whole.answers, whole.citing, whole.bare) == ("rag", "all", 6, 4, 1)
    assert (whole.spans, whole.sent, whole.fabricated, whole.misplaced, whole.unchecked) == (7, 4, 2, 1, 0)
    assert whole.rate is not None
    assert whole.misplacing is not None
    assert (whole.rate.k, whole.rate.n, whole.misplacing.k, whole.misplacing.n) == (1, 4, 1, 4)


def test_each_rate_is_of_its_own_verdict(tmp_path: Path) -> None:
    """Three answers: two with a made-up span, one of them with a misplaced one too; the third is sound."""
    run = _run(tmp_path, _cited("1", BAD), _cited("2", BAD, ELSEWHERE, GOOD), _cited("3", GOOD))
    whole = _by_arm(run)[0].categories[0]
    assert whole.rate is not None
    assert whole.misplacing is not None
    assert (whole.rate.k, whole.rate.n, whole.misplacing.k, whole.misplacing.n) == (2, 3, 1, 3)


def test_the_interval_is_wilsons() -> None:
    """B-09: two of ten thousand are .0002 with [.0001, .0007]; of none there is no rate."""
    assert rate(wilson(2, 10_000)) == "2/10,000 [.0001, .0007]"
    assert rate(wilson(0, 0)) == "-"


def test_a_wrong_answer_whose_spans_are_all_sound_is_silent_and_well_cited(tmp_path: Path) -> None:
    """B-13: nothing on it looks wrong, neither by its words nor by what it cites."""
    wrong = {"answer": "no"}
    run = _run(
        tmp_path, _cited("1", GOOD, **wrong), _cited("2", BAD, **wrong), _cited("3", GOOD), record("4", **wrong),
        _cited("5", GOOD, BAD, **wrong),
    )  # fmt: skip
    assert _by_arm(run)[0].categories[0].silent_sound == 1


def test_an_arm_that_was_to_cite_and_did_not_is_shown(tmp_path: Path) -> None:
    """No citation at all is a finding; of an arm that was never asked it is none."""
    plan = {"name": "p", "arms": [{"name": "rag", "citations": "asked"}, {"name": "other", "citations": "off"}]}
    run = _run(tmp_path, record("1"), record("2", arm="other"), plan=plan)
    assert [(arm.arm, arm.categories[0].bare, arm.categories[0].rate) for arm in _by_arm(run)] == [("rag", 1, None)]


def test_an_agent_that_was_shown_blocks_was_to_cite(tmp_path: Path) -> None:
    """Blocks can be cited; what comes between tags was not asked for."""
    plan = {
        "name": "p",
        "arms": [{"name": "agentic-blocks", "results": "blocks"}, {"name": "agentic", "results": "text"}],
    }
    run = _run(tmp_path, record("1", arm="agentic-blocks"), record("2", arm="agentic"), plan=plan)
    assert [(arm.arm, arm.categories[0].bare) for arm in _by_arm(run)] == [("agentic-blocks", 1)]


def test_the_report_and_the_json_have_it(tmp_path: Path) -> None:
    """A table with every count, words for a grader to read, the same in summary.json; nothing without citations."""
    run = _run(tmp_path / "cited", _cited("1", GOOD, BAD))
    summary = summarize(run)
    found = table(summary)
    assert found is not None
    assert found.rows[0][:8] == ("rag, all", "1", "1", "0", "2", "1", "0", "0")
    assert "Citations: are the words that are cited there?" in render(summary)
    assert "\\[pool.md\\] The pool shuts" in render(summary)
    assert plain(summary)["behaviour"]["citations"][0]["categories"][0]["fabricated"] == 1
    assert table(summarize(read_run(tmp_path / "bare", [record("1")]))) is None


def test_every_count_stands_in_its_column(tmp_path: Path) -> None:
    """Of five answers two have a made-up span, one of these a misplaced one too; a wrong one cites what was sent, and
    two cite nothing."""
    wrong = _cited("3", GOOD, answer="no")
    run = _run(tmp_path, _cited("1", BAD), _cited("2", BAD, ELSEWHERE, GOOD), wrong, record("4"), record("5"))
    found = table(summarize(run))
    assert found is not None
    cells = tuple(cell.partition(" [")[0] for cell in found.rows[0])
    assert cells == ("rag, all", "5", "3", "2", "5", "2", "1", "0", "2/3", "1/3", "1")


def test_a_category_is_shown_where_spans_are_ill(tmp_path: Path) -> None:
    """Behind all of them the ones with a made-up or a misplaced span; one whose spans are sound is left out."""
    kinds = {"a": GOOD, "b": BAD, "c": ELSEWHERE}
    found = table(summarize(_run(tmp_path, *(_cited(kind, one, category=kind) for kind, one in kinds.items()))))
    assert found is not None
    assert [row[0] for row in found.rows] == ["rag, all", "rag, b", "rag, c"]


def test_an_arm_that_cites_what_was_not_sent_is_warned_of(tmp_path: Path) -> None:
    """With both counts; where every span was sent, nobody is."""
    bad = summarize(_run(tmp_path / "bad", _cited("1", GOOD, BAD), _cited("2", GOOD))).warnings
    good = summarize(_run(tmp_path / "good", _cited("1", GOOD), _cited("2", ELSEWHERE))).warnings
    (warned,) = (warning for warning in bad if "cite words" in warning)
    assert warned.startswith("rag (m): 1 of 2 answers with citations cite words that were not sent, 1 of 3 spans")
    assert not any("cite words" in warning for warning in good)


def test_the_listed_ones_are_the_first_forty_of_a_kind(tmp_path: Path) -> None:
    """Figures count all."""
    run = _run(tmp_path, *[_cited(f"{n:03}", BAD, ELSEWHERE) for n in range(50)])
    prompts = read_prompts(run.path)
    listed = ill_cited(audited(run, looked_at(run, prompts), prompts))
    assert [sum(one.measure == kind for one in listed) for kind in ("spans_fabricated", "spans_misplaced")] == [40, 40]


def test_a_run_of_before_can_be_audited(tmp_path: Path) -> None:
    """Records without a citation are read as ever, and those of a run with another field of it too."""
    path = write_run(tmp_path, [between_tags(GOOD)[0]], prompts=between_tags()[1])
    old = (path / "records.jsonl").read_text().replace('"source":"pool.md"}', '"source":"pool.md","sent":true}')
    assert '"sent":true' in old
    (path / "records.jsonl").write_text(old)
    (found,) = summarize(log.read_run(path)).behaviour.citations
    assert found.categories[0].sent == 1


def test_a_turn_without_a_prompt_is_skipped() -> None:
    """As of a trial that was never sent."""
    assert prompts_of(record("t", turns=(Turn("failed", "connect", ()),))) == ()
