"""What a screening says: the rule as a truth table, and the figures that it is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import question, read_run, record, turn

from loadrig.analysis.grounding import Gap
from loadrig.analysis.screening import lines
from loadrig.analysis.screening.rule import REASONS, Facts, Verdict, sentence, verdict
from loadrig.analysis.screening.whole import Screening
from loadrig.analysis.summary import summarize
from loadrig.reports.markdown import render
from loadrig.words.corpus import Evidence, Hit, Question
from loadrig.words.record import Record

FULL = {
    "questions": 110, "arms": ["control", "rag", "full_context", "agentic"], "trials": 440, "prompt_tokens": 1000,
    "output_tokens": 132000, "cost": "1.25", "seconds": 600.0,
}  # fmt: skip
ARMS = [{"name": "rag", "kind": "Rag"}, {"name": "full_context", "kind": "loadrig.arms.full_context:FullContext"}]
PROMPT = b'{"messages":[{"content":"it stands here"}]}'


@pytest.mark.parametrize(
    ("troubles", "found", "reasons"),
    [
        ((), "pays", ()),
        (("control",), "pays only after", ("control",)),
        (("instrument",), "pays only after", ("instrument",)),
        (("few",), "pays only after", ("few",)),
        (("saturated",), "does not pay yet", ("saturated",)),
        (("hopeless",), "pays only after", ("hopeless",)),
        (("alike",), "does not pay yet", ("alike",)),
        (("known",), "pays only after", ("known",)),
        (("gap",), "pays only after", ("gap",)),
        (("keyless",), "pays only after", ("keyless",)),
        (("reread",), "pays only after", ("reread",)),
        (("blind",), "pays only after", ("blind",)),
        (("saturated", "instrument"), "pays only after", ("instrument",)),
        (("saturated", "known", "blind"), "does not pay yet", ("saturated",)),
        (("saturated", "alike"), "does not pay yet", ("saturated",)),
        (("hopeless", "alike", "gap", "reread"), "pays only after", ("hopeless",)),
        (("hopeless", "keyless"), "pays only after", ("hopeless", "keyless")),
        (("alike", "gap", "reread"), "does not pay yet", ("alike",)),
        (("few", "hopeless", "blind"), "pays only after", ("few", "blind")),
        (("control", "few", "keyless", "gap"), "pays only after", ("control", "few", "keyless")),
        (("reread", "known", "blind"), "pays only after", ("known", "reread", "blind")),
    ],
)
def test_the_rule(troubles: tuple[str, ...], found: Verdict, reasons: tuple[str, ...]) -> None:
    """What makes figures doubtful goes first, then what no repair changes, then what a full study would trip over."""
    assert verdict(Facts(**dict.fromkeys(troubles, True))) == (found, reasons)


def test_every_trouble_has_its_words() -> None:
    """No fact without a reason, no reason without a fact."""
    assert list(REASONS) == list(Facts.__slots__)


@pytest.mark.parametrize(
    ("found", "reasons", "words"),
    [
        ("pays", (), "A full study pays."),
        (
            "does not pay yet", ("saturated",),
            "A full study does not pay yet: every arm is right on 17 of 20 or more: the corpus is easy, harder "
            "questions are needed.",
        ),
        ("pays only after", ("instrument",), "A full study pays only after: no safeguard fails any more."),
    ],
)  # fmt: skip
def test_the_verdict_is_one_sentence(found: Verdict, reasons: tuple[str, ...], words: str) -> None:
    """In plain words."""
    assert sentence(found, reasons) == words


def asked(arm: str, right: int, n: int = 20, *, first: int = 0, **given: Any) -> list[Record]:
    """Answers of an arm to q0, q1, ...: `right` of n are right, from number `first` on."""
    found = range(first, first + right)
    return [
        record(f"{arm}-{i}", arm=arm, question=f"q{i}", category="ab"[i % 2], answer="yes" if i in found else "no",
               **given)
        for i in range(n)
    ]  # fmt: skip


def screened(folder: Path, *records: Record, **given: Any) -> Screening:
    questions = [question(f"q{i}", category="ab"[i % 2], gold=("d",)) for i in range(20)]
    fields = {
        "screen": True, "screening": {"most": 20, "left_out": [], "full": FULL}, "questions": questions,
        "plan": {"name": "s", "arms": ARMS},
    }  # fmt: skip
    found = summarize(read_run(folder, records, **{**fields, **given})).screening
    assert found is not None
    return found


def line(found: Screening, name: str) -> tuple[str, str]:
    return next((one.mark, one.said) for one in found.lines if one.name == name)


def test_a_run_that_was_no_screening_has_none(tmp_path: Path) -> None:
    """And its report has no such section."""
    summary = summarize(read_run(tmp_path, asked("rag", 3)))
    assert summary.screening is None
    assert "Screening" not in render(summary)


def test_arms_that_differ_pay(tmp_path: Path) -> None:
    """10 of 20 against 14 of 20 over a control that knew nothing: four questions tell them apart, 8.2 points shown."""
    found = screened(tmp_path, *asked("control", 0), *asked("rag", 10), *asked("full_context", 14))
    assert (found.verdict, found.sentence) == ("pays", "A full study pays.")
    assert line(found, "questions") == (
        "fine", "rag 10 of 20, full_context 14 of 20; the arms differ on 4",
    )  # fmt: skip
    assert line(found, "control") == ("fine", "it knew none of 20 questions")
    assert line(found, "gap")[1].startswith(
        "outside noise: control 0.00, best grounded arm full_context 0.70 of 20 questions: +0.70 ["
    )
    assert line(found, "full plan") == (
        "fine",
        "110 questions, 4 arms, 440 trials, about 1,000 prompt and 132,000 output tokens for about 1.2500 USD, "
        "10 minutes; it can show differences from 8.2 points on",
    )


@pytest.mark.parametrize(
    ("rag", "full", "found", "said"),
    [
        (17, 20, "does not pay yet", "saturated: rag 17 of 20, full_context 20 of 20"),
        (16, 20, "pays", "rag 16 of 20, full_context 20 of 20; the arms differ on 4"),
        (3, 2, "pays only after", "too hard, or the key is wrong: rag 3 of 20, full_context 2 of 20"),
        (4, 3, "pays only after", "rag 4 of 20, full_context 3 of 20; the arms differ on 1"),
        (10, 10, "does not pay yet", "rag 10 of 20, full_context 10 of 20; the arms differ on 0"),
    ],
)
def test_questions_that_tell_nothing_apart(tmp_path: Path, rag: int, full: int, found: Verdict, said: str) -> None:
    """17 of 20 in every arm is an easy corpus, 3 of 20 a wrong key or too hard; the same answers tell nothing."""
    of = screened(tmp_path, *asked("control", 0), *asked("rag", rag), *asked("full_context", full))
    assert (of.verdict, line(of, "questions")[1]) == (found, said)


def test_what_retrieval_misses_pays_though_arms_are_alike(tmp_path: Path) -> None:
    """The operative test: the gold document of category b was never found, so there is a k to choose."""
    hits = [
        record(f"r{i}", arm="rag", question=f"q{i}", category="ab"[i % 2], answer="yes" if i < 10 else "no",
               retrieved=(Hit("d" if i % 2 == 0 else "other", None, 1.0),))
        for i in range(20)
    ]  # fmt: skip
    found = screened(tmp_path, *asked("control", 0), *hits, *asked("full_context", 10))
    assert found.verdict == "pays"
    assert line(found, "recall of rag") == ("look", "below 1: b 0.00 (10); all: 0.50")


def test_what_the_control_knew_is_named_and_not_counted(tmp_path: Path) -> None:
    """Three of twenty are told, four stand in the way."""
    three = screened(tmp_path / "3", *asked("control", 3), *asked("rag", 10), *asked("full_context", 14))
    four = screened(tmp_path / "4", *asked("control", 4), *asked("rag", 10), *asked("full_context", 14))
    assert line(three, "control") == ("look", "it knew 3 of 20, which are not counted: q0, q1, q2")
    assert (three.verdict, four.verdict) == ("pays", "pays only after")
    assert line(four, "questions")[1] == "rag 6 of 16, full_context 10 of 16; the arms differ on 4"


def test_without_a_control_nothing_is_believed(tmp_path: Path) -> None:
    """However well the arms differ."""
    found = screened(tmp_path, *asked("rag", 10), *asked("full_context", 14))
    assert (found.verdict, line(found, "control")) == ("pays only after", ("mend", "no control ran"))
    assert REASONS["control"] in found.sentence


def test_questions_without_a_key_are_named(tmp_path: Path) -> None:
    """q0 to q3 demand nothing: four of twenty, one more than is let pass."""
    questions: list[Question] = [
        question(f"q{i}", category="ab"[i % 2], must_contain=() if i < 4 else ("yes",)) for i in range(20)
    ]
    found = screened(tmp_path, *asked("control", 0), *asked("rag", 10), *asked("full_context", 14), questions=questions)
    assert line(found, "key") == ("mend", "4 of 20: q0, q1, q2, q3")
    assert (found.verdict, found.sentence) == (
        "pays only after",
        f"A full study pays only after: {REASONS['keyless']}.",
    )


def test_what_no_arm_got_right_with_gold_in_view_is_for_a_person(tmp_path: Path) -> None:
    """q14 to q19 are wrong in both arms, and the quote of their key stood in full context's prompt, in rag's not."""
    questions = [
        question(f"q{i}", category="ab"[i % 2], evidence=(Evidence("d", "it stands here"),)) for i in range(20)
    ]
    full = asked("full_context", 14, turns=(turn(prompt=("p",)),))
    found = screened(
        tmp_path, *asked("control", 0), *asked("rag", 10, turns=(turn(prompt=("q",)),)), *full,
        questions=questions, prompts={"p": PROMPT, "q": b'{"messages":[{"content":"-"}]}'},
    )  # fmt: skip
    assert found.reread == ("q14", "q15", "q16", "q17", "q18", "q19")
    assert line(found, "to read again") == ("mend", "6 of 20: q14, q15, q16, q17, q18, q19")
    assert line(found, "misses") == ("look", "rag retrieval 10, reading 0; full_context retrieval 0, reading 6")


def test_a_plan_of_twenty_questions_can_show_too_little(tmp_path: Path) -> None:
    """41.9 points at best, of two arms compared."""
    found = screened(
        tmp_path, *asked("control", 0), *asked("rag", 10), *asked("full_context", 14),
        screening={"full": {**FULL, "questions": 20, "cost": None}},
    )  # fmt: skip
    assert found.verdict == "pays only after"
    assert line(found, "full plan")[1].endswith(
        "at a cost that is unknown, 10 minutes; it can show differences from 41.9 points on"
    )


def test_categories_are_told_apart(tmp_path: Path) -> None:
    """All of a right in both arms; of b the odd ones from q11 on only in full context."""
    rag = [r for r in asked("rag", 11) if r.category == "b"] + [r for r in asked("rag", 20) if r.category == "a"]
    found = screened(tmp_path, *asked("control", 0), *rag, *asked("full_context", 20))
    assert line(found, "categories") == (
        "fine", "saturated: a (10); differ between arms: b (5 of 10); right in no arm: none",
    )  # fmt: skip
    assert [(row.category, row.right, row.differing) for row in found.categories] == [
        ("a", {"rag": 10, "full_context": 10}, ()),
        ("b", {"rag": 5, "full_context": 10}, ("q11", "q13", "q15", "q17", "q19")),
    ]


def test_of_several_models_each_has_its_lines(tmp_path: Path) -> None:
    """One saturated, one not: the study pays, and the lines say of whom they are."""
    arms = (("control", 0, 0), ("rag", 17, 10), ("full_context", 20, 14))
    records = [
        record(f"{model}-{r.trial}", arm=r.arm, question=r.question, category=r.category, answer=r.answer, model=model)
        for arm, easy, hard in arms for model, right in (("m", easy), ("n", hard)) for r in asked(arm, right)
    ]  # fmt: skip
    found = screened(tmp_path, *records)
    assert found.verdict == "pays"
    assert [one.mark for one in found.lines if one.name.startswith("questions")] == ["mend", "fine"]
    assert line(found, "questions (n)")[1].startswith("rag 10 of 20")


def test_the_report_tells_the_verdict_before_any_figure(tmp_path: Path) -> None:
    """With what is kept whatever comes of it, and the table by category further down."""
    records = (*asked("control", 0), *asked("rag", 10), *asked("full_context", 14))
    questions = [question(f"q{i}", category="ab"[i % 2]) for i in range(20)]
    text = render(summarize(read_run(tmp_path, records, screen=True, screening={"full": FULL}, questions=questions)))
    before = text.split("## Stage", maxsplit=1)[0]
    assert "## Screening\n\nA full study pays.\n" in before
    assert "Keep the question set and its key" in before
    assert "## Screening by category" in text


@pytest.mark.parametrize(
    ("p", "low", "mark", "said"),
    [
        (0.05, 0.01, "fine", "outside noise"), (0.051, 0.01, "mend", "inside noise"),
        (0.05, 0.0, "mend", "inside noise"), (0.05, None, "mend", "inside noise"),
    ],
)  # fmt: skip
def test_a_gap_wants_its_p_and_its_whole_interval(p: float, low: float | None, mark: str, said: str) -> None:
    """p after Holm at most .05 and an interval above 0; one of the two is not enough."""
    found = lines.gap([Gap("rag", "m", 20, 0.4, 0.1, 0.3, low, 0.5, 0.02, p, best=True)])
    assert (found.mark, found.said.split(":")[0]) == (mark, said)
    assert lines.is_clear([]) is False
