"""Every local day of all runs of one kind: what an arm's questions cost, and all other money."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadrig.analysis.bill import PerQuestion
from loadrig.analysis.days import days_of
from loadrig.analysis.nightly.digest import RunNights
from loadrig.analysis.nightly.whole import changed_options
from loadrig.analysis.summary import SIMULATED
from loadrig.reports.table import Table, amount, label, money, number


def tables(runs: Sequence[RunNights], timezone: str, told: str) -> Iterator[Table]:
    """By day, over all days and, where an arm has routes, by route."""
    found = days_of(runs)
    changed = changed_options(runs)
    said = [told]
    if changed:
        said.append(f"not alike in all of these runs are the options of {', '.join(changed)}")
    models = list(dict.fromkeys(day.model for day in found.days))
    unit = found.currency or "cost"
    spent = ("spent", "asked", f"{unit}/asked", "answered", f"{unit}/answered", "correct", f"{unit}/correct")
    other = [(day, "other (before, warm-up, asked again, judge)", money(sum_of), *["-"] * 6) for day, sum_of in
             found.other]  # fmt: skip
    total = ("all", "whole bill", money(found.total), *["-"] * 6)
    rows = [(day.day, label(day.arm, day.model, models), *_cells(day.cost)) for day in found.days] + other
    kind = "Simulated runs" if found.simulated else "Runs"
    notes = [
        *([SIMULATED] if found.simulated else []),
        *said,
        f"runs: {found.runs}; days of {timezone}; a trial's day is that on which it began",
        "all rows together are the whole bill",
        "asked: measured and tail trials; correct by pre-check",
    ]
    yield Table(f"{kind}: by day", ("day", "arm", *spent), (*sorted(rows, key=lambda row: row[0]), total), tuple(notes))
    whole = tuple((label(day.arm, day.model, models), *_cells(day.cost)) for day in found.arms)
    notes_of_all = (*((SIMULATED,) if found.simulated else ()), *said)
    yield Table(f"{kind}: all days", ("arm", *spent), whole, notes_of_all)
    ways = tuple((day.day, label(day.arm, day.model, models), day.way or "", *_cells(day.cost)) for day in found.ways)
    if ways:
        yield Table(f"{kind}: by route", ("day", "arm", "route", *spent), ways, notes_of_all)


def _cells(cost: PerQuestion) -> tuple[str, ...]:
    return (
        money(cost.total), str(cost.asked), amount(cost.per_asked), str(cost.answered), amount(cost.per_answered),
        number(cost.correct), amount(cost.per_correct),
    )  # fmt: skip
