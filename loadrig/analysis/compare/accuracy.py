"""Accuracy of two sides on the same questions: exact McNemar by the first answers, an interval over questions.

Compared are questions asked on both sides that can be graded on both. What was not answered, or failed, is not right,
and is named. A question that the control of either run answered rightly leaves the comparison, and the control itself
has none. The answer that counts is the first, as everywhere; with repetitions the difference of the means over all of
them, a question one cluster, stands beside.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.accuracy import dropped, verdict
from loadrig.analysis.compare.sides import Side
from loadrig.analysis.compare.words import ALPHA, Family, Word, word
from loadrig.analysis.selection import ALL, CONTROL
from loadrig.log import RunFolder
from loadrig.statistics.clustered import Difference, Draws, mean_difference
from loadrig.statistics.groups import upper_bound
from loadrig.statistics.keyed import single_each
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.power import detectable
from loadrig.statistics.several import holm
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class Differs:
    """A question that only one side got right, and what became of it on either."""

    question: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Right:
    """`right_a` and `right_b` of `n` questions, of a category or `all`. `difference`: b - a as a share, by the first
    answers; `repeated`: over all repetitions, None without any. `p` is McNemar's exact, `adjusted_p` Holm's.

    `detectable`: the smallest difference that n questions show in four of five cases at the level that is tested here,
    all that differ going one way; `detectable_against`: with as many going the other way as here. `at_most`: where no
    question differs, the share that could, one-sided 95 %.
    """

    category: str
    n: int
    right_a: int
    right_b: int
    lost: tuple[Differs, ...]
    won: tuple[Differs, ...]
    difference: Difference
    repeated: Difference | None
    p: float
    mid_p: float
    adjusted_p: float = 1.0
    word: Word = "inside noise"
    detectable: float | None = None
    detectable_against: float | None = None
    at_most: float | None = None


def accuracy(a: Side, b: Side, draws: Draws) -> tuple[Right, ...]:
    """Of all questions, then of each category; none for the control and where nothing can be graded on both sides."""
    if CONTROL in (a.arm, b.arm):
        return ()
    known = known_to_control(a, b)
    first, second = _graded(a, known), _graded(b, known)
    common = [question for question in first if question in second]
    named: dict[str, list[str]] = {ALL: common}
    for question in common:
        named.setdefault(first[question][0].category, []).append(question)
    rows = [_row(name, questions, (a, b), draws) for name, questions in named.items() if questions]
    return (*rows[:1], *sorted(rows[1:], key=lambda row: row.category))


def known_to_control(a: Side, b: Side) -> set[str]:
    """Questions that the control of either run answered rightly, asked of the side's model."""
    return {drop.question for side in (a, b) for drop in dropped(side.run) if drop.model == side.model}


def worded(rows: Sequence[Right], family: Family) -> list[Right]:
    """The rows of one family with their adjusted p, their word and what could have been seen."""
    level = ALPHA[family] / max(1, len(rows))
    return [
        replace(
            row,
            adjusted_p=adjusted,
            word=word(row.difference, adjusted, family),
            detectable=detectable(row.n, alpha=level),
            detectable_against=detectable(row.n, against=min(len(row.lost), len(row.won)) / row.n, alpha=level),
            at_most=None if row.lost or row.won else upper_bound(0, row.n),
        )
        for row, adjusted in zip(rows, holm([row.p for row in rows]), strict=True)
    ]


def right(run: RunFolder, record: Record) -> bool | None:
    """Whether the answer is right; what was not answered is not; None where nobody can say."""
    question = run.questions.get(record.question)
    if record.outcome == "answered":
        return verdict(run, record)
    return False if question is not None and (question.must_contain or run.grading) else None


def _graded(side: Side, known: Collection[str]) -> dict[str, list[Record]]:
    """The records of each question whose first can be graded, in order."""
    found = {question: records for question, records in side.questions.items() if question not in known}
    return {question: records for question, records in found.items() if right(side.run, records[0]) is not None}


def _row(category: str, questions: Iterable[str], sides: tuple[Side, Side], draws: Draws) -> Right:
    a, b = ({question: side.questions[question] for question in questions} for side in sides)
    first, second = (
        {question: bool(right(side.run, records[0])) for question, records in of.items()}
        for side, of in zip(sides, (a, b), strict=True)
    )
    test = mcnemar(first, second)
    difference = mean_difference(single_each(first), single_each(second), draws)
    assert test is not None and difference is not None, "a row has questions"  # noqa: PT018
    repeated = any(len(records) > 1 for of in (a, b) for records in of.values())
    return Right(
        category=category,
        n=test.n,
        right_a=test.right_a,
        right_b=test.right_b,
        lost=tuple(Differs(name, *(_told(s, s.questions[name][0]) for s in sides)) for name in test.lost),
        won=tuple(Differs(name, *(_told(s, s.questions[name][0]) for s in sides)) for name in test.won),
        difference=difference,
        repeated=mean_difference(_every(sides[0], a), _every(sides[1], b), draws) if repeated else None,
        p=test.p,
        mid_p=test.mid_p,
    )


def _every(side: Side, records: dict[str, list[Record]]) -> dict[str, list[float]]:
    return {
        question: [float(found) for record in of if (found := right(side.run, record)) is not None]
        for question, of in records.items()
    }


def _told(side: Side, record: Record) -> str:
    """`right`, `wrong`, or why there is no answer: `unanswered (starved)`."""
    if record.outcome == "answered":
        return "right" if right(side.run, record) else "wrong"
    return f"{record.outcome} ({record.reason})"
