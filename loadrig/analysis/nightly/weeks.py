"""The same figures by ISO week, by arm and by route: what a weekly review looks at.

A week is that of the local day on which a trial began, Monday to Sunday, named as ISO 8601 does (2026-W01 may begin in
December). `days`: how many of its days have an asked trial; a week of few days is not yet, or never was, a whole one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from loadrig.analysis.nightly.digest import UNKNOWN, Cell
from loadrig.analysis.nightly.sums import Named, Row, by_arm, by_route, rows


@dataclass(frozen=True, slots=True)
class Week:
    """One row of one week."""

    week: str
    days: int
    row: Row


@dataclass(frozen=True, slots=True)
class Weeks:
    """The last weeks, the latest first; `routes` only of arms that send questions different ways."""

    arms: tuple[Week, ...]
    routes: tuple[Week, ...]


def week_of(day: str) -> str:
    """`2026-W43` of `2026-10-25`.

    >>> week_of("2027-01-03"), week_of("2027-01-04")
    ('2026-W53', '2027-W01')
    """
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


def weeks(cells: Iterable[Cell], currency: str | None, *, last: int) -> Weeks:
    """Of trials that have a day."""
    cells = [cell for cell in cells if cell.day != UNKNOWN]
    routed = {cell.arm for cell in cells if cell.route is not None}
    return Weeks(
        arms=_weeks(cells, by_arm, currency, last),
        routes=_weeks([cell for cell in cells if cell.arm in routed], by_route, currency, last),
    )


def _weeks(cells: list[Cell], named: Callable[[Cell], Named], currency: str | None, last: int) -> tuple[Week, ...]:
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(week_of(cell.day), []).append(cell)
    return tuple(
        Week(week, len({cell.day for cell in found[week]}), one)
        for week in sorted(found, reverse=True)[:last]
        for one in rows(found[week], named, currency, intervals=False)
    )
