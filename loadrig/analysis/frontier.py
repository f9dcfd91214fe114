"""Cost against accuracy, and the arms that no other is better than in both.

    a dominates b  when a costs no more and is right no less, and one of the two is better

The frontier is what nobody dominates, by the values themselves: where intervals overlap another draw of questions may
order two arms otherwise. What a question costs is money / asked over all stages, with a bootstrap interval that draws
whole questions; right is of the questions asked, with Wilson's interval. An arm whose cost is a lower bound, for a
reply broke off, may be dearer than it looks: what it dominates it does not dominate for certain. Not placed, and listed
with the reason: an arm of which a charge is unknown, one that nobody can grade, and the control, whose right answers
are left out of accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from loadrig.analysis.accuracy import ArmAccuracy
from loadrig.analysis.bill import charges, currency_of, per_question
from loadrig.analysis.selection import CONTROL, asked, by_arm_and_model, grouped
from loadrig.cost import total
from loadrig.log import RunFolder
from loadrig.statistics.clustered import DRAWS, bootstrapped
from loadrig.stats import Share
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class Placed:
    """An arm by what a question costs and how often it is right. `low`, `high`: of the cost, None of fewer than two
    questions; `questions`: that were drawn from. `at_least`: a lower bound. `dominated_by`: the cheapest arm that
    dominates it, None: it is on the frontier; `certain`: that arm's cost is no lower bound."""

    arm: str
    model: str
    cost: float
    low: float | None
    high: float | None
    at_least: bool
    asked: int
    questions: int
    right: Share
    dominated_by: str | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Unplaced:
    """An arm that has no place, and why."""

    arm: str
    model: str
    why: str


@dataclass(frozen=True, slots=True)
class Frontier:
    """Arms in the plan's order."""

    placed: tuple[Placed, ...]
    unplaced: tuple[Unplaced, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """What domination looks at."""

    cost: float
    right: float


def dominators(points: Sequence[Point]) -> list[int | None]:
    """For each point, which of the points that dominate it is the cheapest, the most right of those that cost the same;
    None: none does.

    >>> dominators([Point(1.0, 0.5), Point(2.0, 0.5), Point(2.0, 0.9)])
    [None, 0, None]
    """
    found: list[int | None] = []
    for point in points:
        over = [place for place, other in enumerate(points) if _dominates(other, point)]
        found.append(min(over, key=lambda place: (points[place].cost, -points[place].right), default=None))
    return found


def _dominates(one: Point, other: Point) -> bool:
    no_worse = one.cost <= other.cost and one.right >= other.right
    return no_worse and (one.cost < other.cost or one.right > other.right)


def frontier(run: RunFolder, accuracy: Iterable[ArmAccuracy]) -> Frontier:
    """Every arm and model of a run."""
    rights = {(row.arm, row.model): row.categories[0].of_asked for row in accuracy}
    placed: list[Placed] = []
    unplaced: list[Unplaced] = []
    for arm, model, records in by_arm_and_model(run, (((r.arm, r.model), r) for r in asked(run))):
        found = _place(run, records, rights.get((arm, model)))
        if isinstance(found, str):
            unplaced.append(Unplaced(arm, model, found))
        else:
            placed.append(found)
    return Frontier(tuple(_named(placed)), tuple(unplaced))


def _place(run: RunFolder, records: Sequence[Record], right: Share | None) -> Placed | str:
    first = records[0]
    if first.arm == CONTROL:
        return "the control: what it knows is left out of accuracy, so what is left says nothing"
    spent = per_question(records, currency_of(run), correct=None)
    if spent.total.amount is None or spent.total.unknown:
        return f"its cost is not known: {spent.total.unknown} charges without a price or without usage"
    if right is None:
        return "nobody can grade its answers"
    questions = grouped((record.question, record) for record in records)
    sums = np.array([float(_money(of)) for of in questions.values()])
    counts = np.array([float(len(of)) for of in questions.values()])
    low, high = bootstrapped((sums, counts), _each, DRAWS) if len(sums) > 1 else (None, None)
    return Placed(
        arm=first.arm,
        model=first.model,
        cost=float(Decimal(spent.total.amount) / len(records)),
        low=low,
        high=high,
        at_least=spent.total.at_least,
        asked=len(records),
        questions=len(questions),
        right=right,
    )


def _money(records: Iterable[Record]) -> Decimal:
    return total(charge.amount for record in records for charge in charges(record) if charge.amount is not None)


def _each(sums: np.ndarray, counts: np.ndarray, axis: int = -1) -> Any:
    """Money of the questions drawn / trials of the questions drawn."""
    return np.sum(sums, axis=axis) / np.sum(counts, axis=axis)


def _named(placed: Sequence[Placed]) -> Iterable[Placed]:
    over = dominators([Point(one.cost, one.right.share) for one in placed])
    several = len({one.model for one in placed}) > 1
    for one, by in zip(placed, over, strict=True):
        name = None if by is None else f"{placed[by].arm} ({placed[by].model})" if several else placed[by].arm
        yield replace(one, dominated_by=name, certain=by is None or not placed[by].at_least)
