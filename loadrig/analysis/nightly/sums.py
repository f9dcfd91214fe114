"""Cells added up: what questions of any grouping cost, with intervals.

    per asked    = money of the asked trials / asked trials, failed and unanswered ones included
    per answered = the same money / answered trials
    per correct  = the same money / trials that pass the pre-check

Money is exact and includes what failed and retried. Where some charge is unknown it is a lower bound, and so is the
cost. Intervals are over questions (`loadrig.statistics.ratio`), whose trials in all arms are one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import msgspec

from loadrig.analysis.bill import Money, PerQuestion, plain
from loadrig.analysis.nightly.digest import Cell, Each, Sum
from loadrig.analysis.routes import NO_WAY
from loadrig.cost import total
from loadrig.statistics.ratio import ratio_of_sums
from loadrig.stats import Quantile, quantile

_EACH = msgspec.json.Decoder(list[Each])
_TIMES = msgspec.json.Decoder(list[int])


@dataclass(frozen=True, slots=True)
class Interval:
    """95 %, over `n` questions; an end that the sample is too small to give is None."""

    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Row:
    """Questions of one arm, model, category or route; None where a grouping goes across them. Shares are of 1: `failed`
    of asked trials, `right` of the `keyed` ones, whose question says what an answer must contain. `tokens`: mean of
    prompt and output over `told` trials that did not fail."""

    arm: str | None
    model: str | None
    category: str | None
    route: str | None
    cost: PerQuestion
    asked_interval: Interval | None
    answered_interval: Interval | None
    correct_interval: Interval | None
    failed: int
    failed_share: float | None
    keyed: int
    right: float | None
    told: int
    tokens: float | None


Named = tuple[str | None, str | None, str | None, str | None]
WHOLE: Named = (None, None, None, None)


def money_of(found: Iterable[Sum], currency: str | None) -> Money:
    """Several sums as one: nothing known of what there was is None, nothing at all is 0."""
    found = list(found)
    known, unknown = sum(one.known for one in found), sum(one.unknown for one in found)
    amount = None if unknown and not known else plain(total(Decimal(one.amount) for one in found))
    return Money(amount, currency, any(one.at_least for one in found), unknown)


def per_question(cells: Sequence[Cell], currency: str | None) -> PerQuestion:
    """Quotients to 12 digits; `correct` is None when no answer could be checked."""
    spent = money_of((cell.money for cell in cells), currency)
    asked, answered = sum(cell.asked for cell in cells), sum(cell.answered for cell in cells)
    correct = sum(cell.correct for cell in cells) if any(cell.checked for cell in cells) else None

    def each(divisor: int | None) -> str | None:
        if not divisor or spent.amount is None:
            return None
        return plain(round(Decimal(spent.amount) / divisor, 12).normalize())

    return PerQuestion(spent, asked, answered, correct, each(asked), each(answered), each(correct))


def row(named: Named, cells: Sequence[Cell], currency: str | None, *, intervals: bool = True) -> Row:
    """The cells of one grouping as a row."""
    cost, (asked, answered, correct) = per_question(cells, currency), (None, None, None)
    if intervals and cost.total.amount is not None:
        asked, answered, correct = _intervals(cells)
    failed, keyed = sum(cell.failed for cell in cells), sum(cell.keyed for cell in cells)
    told = sum(cell.told for cell in cells)
    return Row(
        *named,
        cost=cost,
        asked_interval=asked,
        answered_interval=answered,
        correct_interval=correct if cost.correct else None,
        failed=failed,
        failed_share=failed / cost.asked if cost.asked else None,
        keyed=keyed,
        right=sum(cell.correct for cell in cells) / keyed if keyed else None,
        told=told,
        tokens=sum(cell.tokens for cell in cells) / told if told else None,
    )


def rows(
    cells: Sequence[Cell], named: Callable[[Cell], Named], currency: str | None, *, intervals: bool = True
) -> tuple[Row, ...]:
    """A row of each name that the cells have, in their order."""
    groups: dict[Named, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(named(cell), []).append(cell)
    return tuple(row(name, found, currency, intervals=intervals) for name, found in groups.items())


def ttft_p95(cells: Iterable[Cell]) -> Quantile | None:
    """Exact, over timed trials that did not fail and generated something, of all arms named."""
    return quantile(sorted(ns for cell in cells for ns in _TIMES.decode(cell.ttft)), 0.95)


def by_arm(cell: Cell) -> Named:
    """Names a row by arm and model."""
    return cell.arm, cell.model, None, None


def by_model(cell: Cell) -> Named:
    """Names a row by model."""
    return None, cell.model, None, None


def by_category(cell: Cell) -> Named:
    """Names a row by category."""
    return None, None, cell.category, None


def by_route(cell: Cell) -> Named:
    """Names a row by arm, model and route; a trial without one failed before it was sent a way."""
    return cell.arm, cell.model, None, cell.route or NO_WAY


def _intervals(cells: Iterable[Cell]) -> tuple[Interval | None, ...]:
    questions: dict[str, list[float]] = {}
    for cell in cells:
        for question, *counts in _EACH.decode(cell.each):
            of = questions.setdefault(question, [0.0] * 4)
            for place, value in enumerate(counts):
                of[place] += value
    asked, answered, correct, spent = zip(*questions.values(), strict=True) if questions else ((),) * 4
    return tuple(_interval(spent, of) for of in (asked, answered, correct))


def _interval(spent: Sequence[float], divisors: Sequence[float]) -> Interval | None:
    found = ratio_of_sums(spent, divisors)
    return None if found is None else Interval(found.low, found.high, found.n)
