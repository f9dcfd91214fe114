"""Nights, and what became of each. A night is the runs of a plan that began on one local day.

`sound` is a night with a run that ended as planned. Any other is shown as what it is: `cut short` (by the deadline),
`interrupted`, `stopped by its budget`, `not finished` (killed, or still at work), `no records`, `all failed`;
`missed` is a day of the week on which a night is expected, from the first night on, on which no run
began. A `client-bound` night measured the rig in part: its money counts, its times do not. Only sound and client-bound
nights are judged, and held against; of the latter no time is: a night of which half is missing is never read as a cheap
one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal, get_args

from loadrig.analysis.nightly.digest import UNKNOWN, Cell, RunNights

Standing = Literal[
    "sound", "client-bound", "stopped by its budget", "cut short", "interrupted", "not finished", "all failed",
    "no records", "missed",
]  # fmt: skip
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
JUDGED: tuple[Standing, ...] = ("sound", "client-bound")


@dataclass(frozen=True, slots=True)
class Night:
    """One local day (ISO), its runs and what became of them: of several the best. `troubles`: every run that is not
    sound, and why, in words."""

    day: str
    standing: Standing
    runs: tuple[RunNights, ...]
    troubles: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Of all its runs, whatever day their trials began on."""
        return tuple(cell for run in self.runs for cell in run.cells)


def standing_of(run: RunNights) -> Standing:
    """What became of one run."""
    asked, failed = (sum(getattr(cell, name) for cell in run.cells) for name in ("asked", "failed"))
    found: dict[Standing, bool] = {  # the first that is true
        "no records": not asked,
        "cut short": run.cut_short,
        "interrupted": run.status == "interrupted",
        "not finished": run.status != "complete",
        "stopped by its budget": run.over_budget > 0,
        "all failed": failed == asked,
        "client-bound": bool(run.client_bound),
    }
    return next((name for name, is_so in found.items() if is_so), "sound")


def nights_of(runs: Iterable[RunNights], *, expected: Collection[str], until: date | None = None) -> tuple[Night, ...]:
    """Nights in order, missed ones among them: from the first night to the last or, where that is later, to `until`,
    the last day that is over."""
    found: dict[str, list[RunNights]] = {}
    for run in sorted(runs, key=lambda run: run.began_at):
        found.setdefault(run.night, []).append(run)
    told = {day: _night(day, of) for day, of in found.items()}
    dated = sorted(day for day in told if day != UNKNOWN)
    if not dated:
        return tuple(told.values())
    last = max(dated[-1], until.isoformat() if until else "")
    for day in _between(dated[0], last):
        if day not in told and DAYS[date.fromisoformat(day).weekday()] in expected:
            told[day] = Night(day, "missed", ())
    return tuple(night for _, night in sorted(told.items()))


def latest(nights: Sequence[Night]) -> Night | None:
    """The last night on which a run began."""
    return next((night for night in reversed(nights) if night.runs and night.day != UNKNOWN), None)


def _night(day: str, runs: Sequence[RunNights]) -> Night:
    stood = [standing_of(run) for run in runs]
    best = min(stood, key=_ORDER.index)
    troubles = tuple(f"{run.run}: {of}{_left(run)}" for run, of in zip(runs, stood, strict=True) if of != "sound")
    return Night(day, best, tuple(runs), troubles)


_ORDER: tuple[Standing, ...] = get_args(Standing)


def _left(run: RunNights) -> str:
    return f", {run.not_run} trials not run" if run.not_run else ""


def _between(first: str, last: str) -> Iterable[str]:
    begin, end = date.fromisoformat(first), date.fromisoformat(last)
    return ((begin + timedelta(days=n)).isoformat() for n in range((end - begin).days + 1))
