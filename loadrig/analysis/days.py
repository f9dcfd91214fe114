"""Cost of a question by arm and local day, over any number of runs.

A trial's day is the local day, in the plan's zone, of the instant it began; a trial without one (it was lost before it
was recorded) has the day `unknown`. Rows hold asked trials (measured and tail, with their retries and failures); what
else was spent (calls before the first trial, warm-up, tries asked again, judges) has rows of its own, `other`. So all
rows together are the whole bill of the runs, every charge on one day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from loadrig.analysis.bill import Money, PerQuestion
from loadrig.analysis.nightly.digest import QUESTIONS, Cell, RunNights, digest
from loadrig.analysis.nightly.sums import money_of, per_question
from loadrig.analysis.routes import NO_WAY
from loadrig.analysis.selection import grouped
from loadrig.log import RunFolder

Key = tuple[str, str, str, str | None]  # day, arm, model, route


@dataclass(frozen=True, slots=True)
class Day:
    """One arm and model on one local day (ISO date). `way`: of one route of an arm that has several."""

    day: str
    arm: str
    model: str
    cost: PerQuestion
    way: str | None = None


@dataclass(frozen=True, slots=True)
class Nights:
    """All runs of a plan. `ways`: by day the routes of arms that send questions different ways, parts of `days`.
    `other`: money by day that no question of the plan cost; `total`: all of it."""

    simulated: bool
    runs: int
    currency: str | None
    days: tuple[Day, ...]
    arms: tuple[Day, ...]
    ways: tuple[Day, ...]
    other: tuple[tuple[str, Money], ...]
    total: Money


def nights(runs: Iterable[RunFolder], zone: ZoneInfo) -> Nights:
    """Sums over `runs` of one plan, which are all simulated or all real and have one currency."""
    return days_of([digest(run, zone) for run in runs])


def days_of(runs: Sequence[RunNights]) -> Nights:
    """The same, of runs that have been read."""
    arms = {arm: place for place, arm in enumerate(dict.fromkeys(arm for run in runs for arm in run.arms))}
    currency = next((run.kind.currency for run in runs if run.kind.currency), None)
    cells = [cell for run in runs for cell in run.cells]
    lines = [line for run in runs for line in run.lines]
    routed = {cell.arm for cell in cells if cell.route is not None}
    other = grouped((line.day, line.money) for line in lines if line.name not in QUESTIONS)
    return Nights(
        simulated=any(run.kind.simulated for run in runs),
        runs=len(runs),
        currency=currency,
        days=_days((((cell.day, cell.arm, cell.model, None), cell) for cell in cells), arms, currency),
        arms=_days(((("all", cell.arm, cell.model, None), cell) for cell in cells), arms, currency),
        ways=_days(
            (((cell.day, cell.arm, cell.model, cell.route or NO_WAY), cell) for cell in cells if cell.arm in routed),
            arms, currency,
        ),
        other=tuple((day, money_of(found, currency)) for day, found in sorted(other.items())),
        total=money_of((line.money for line in lines), currency),
    )  # fmt: skip


def _days(told: Iterable[tuple[Key, Cell]], arms: Mapping[str, int], currency: str | None) -> tuple[Day, ...]:
    return tuple(
        Day(day, arm, model, per_question(found, currency), way)
        for (day, arm, model, way), found in sorted(grouped(told).items(), key=lambda of: _place(of[0], arms))
    )


def _place(key: Key, arms: Mapping[str, int]) -> tuple[str, int, str, str]:
    day, arm, model, way = key
    return day, arms[arm], model, way or ""
