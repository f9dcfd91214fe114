"""Stale and invented answers of two sides on the same questions: exact McNemar, by the first answers.

Compared are questions whose first answer was judged for the mark on both sides, by the grading that counts; without one
by rule, which is a pre-check and no grade. What was not answered has no mark and is in neither count: silence is told
by accuracy. A question that the control of either run answered rightly leaves, and the control itself has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from loadrig.analysis.accuracy import score_of
from loadrig.analysis.compare.accuracy import known_to_control
from loadrig.analysis.compare.sides import Side
from loadrig.analysis.compare.words import ALPHA, Word, word
from loadrig.analysis.selection import CONTROL
from loadrig.statistics.clustered import Difference, Draws, mean_difference
from loadrig.statistics.keyed import single_each
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.power import detectable
from loadrig.statistics.several import holm

MARKS: tuple[Literal["stale", "invented"], ...] = ("stale", "invented")
BY_RULE = "rule"


@dataclass(frozen=True, slots=True)
class Marked:
    """`marked_a` and `marked_b` of `n` questions have the `mark`; `by`: whose marks they are, `rule` the pre-check's.
    `came`: marked in b only; `went`: in a only. `difference`: b - a as a share; `p` McNemar's exact, `adjusted_p`
    Holm's over the marks of all pairs; `detectable` as in accuracy."""

    mark: Literal["stale", "invented"]
    by: str
    n: int
    marked_a: int
    marked_b: int
    came: tuple[str, ...]
    went: tuple[str, ...]
    difference: Difference
    p: float
    adjusted_p: float = 1.0
    word: Word = "inside noise"
    detectable: float | None = None


def marks(a: Side, b: Side, draws: Draws) -> tuple[Marked, ...]:
    """Of either mark that some question has on both sides; none for the control."""
    if CONTROL in (a.arm, b.arm):
        return ()
    known = known_to_control(a, b)
    found = (_row(mark, a, b, known, draws) for mark in MARKS)
    return tuple(row for row in found if row is not None)


def worded(rows: Sequence[Marked]) -> list[Marked]:
    """The rows of a whole comparison with their adjusted p, their word and what could have been seen."""
    level = ALPHA["marks"] / max(1, len(rows))
    return [
        replace(
            row,
            adjusted_p=adjusted,
            word=word(row.difference, adjusted, "marks"),
            detectable=detectable(row.n, alpha=level),
        )
        for row, adjusted in zip(rows, holm([row.p for row in rows]), strict=True)
    ]


def _row(mark: Literal["stale", "invented"], a: Side, b: Side, known: set[str], draws: Draws) -> Marked | None:
    first, second = (_marked(side, mark, known) for side in (a, b))
    test = mcnemar(first, second)
    difference = mean_difference(single_each(first), single_each(second), draws)
    if test is None or difference is None:
        return None
    return Marked(
        mark=mark,
        by=" / ".join(dict.fromkeys(_by(side) for side in (a, b))),
        n=test.n,
        marked_a=test.right_a,
        marked_b=test.right_b,
        came=test.won,
        went=test.lost,
        difference=difference,
        p=test.p,
    )


def _marked(side: Side, mark: Literal["stale", "invented"], known: set[str]) -> dict[str, bool]:
    """Whether the first answer to each question has the mark, of those that were judged for it."""
    first = {question: records[0] for question, records in side.questions.items() if question not in known}
    scores = {question: score_of(side.run, record) for question, record in first.items()}
    values = {question: getattr(score, mark) for question, score in scores.items() if score is not None}
    return {question: value for question, value in values.items() if value is not None}


def _by(side: Side) -> str:
    return BY_RULE if side.run.grading is None else side.run.grading.by
