"""The section of a run that was fired with --screen: its verdict, what was looked at, and the table by category."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from loadrig.analysis.screening.lines import Line
from loadrig.analysis.screening.whole import Screening
from loadrig.reports.table import NONE, Table, label, one_line
from loadrig.reports.terminal import draw

TITLE = "Screening"
STYLES = {"mend": "red", "look": "yellow", "fine": "green"}


def lines(found: Screening) -> Iterator[str]:
    """What was looked at, a line each, with its limit; then what was left out."""
    yield from map(_line, found.lines)
    yield from (f"left out: {one}" for one in found.left_out)


def table(found: Screening | None) -> Table | None:
    """Questions right by category and arm; None when this was no screening, or nothing was judged."""
    if found is None or not found.categories:
        return None
    models = tuple(dict.fromkeys(row.model for row in found.categories))
    arms = tuple(dict.fromkeys(arm for row in found.categories for arm in row.right))
    rows = tuple(
        (
            label(row.category, row.model, models), str(row.n), *(str(row.right.get(arm, NONE)) for arm in arms),
            "saturated" if row.saturated else "", f"{len(row.differing)}: {', '.join(row.differing)}" if row.differing
            else "none",
        )
        for row in found.categories
    )  # fmt: skip
    notes = ("questions right, by the first answer, of those that could be judged and that the control did not know",)
    return Table("Screening by category", ("category", "n", *arms, "", "differ between arms"), rows, notes)


def show(found: Screening, console: Console) -> None:
    """Prints the section to a console."""
    console.print(Text(f"{TITLE}: {one_line(found.sentence, 800)}", style="bold"))
    for one in found.lines:
        console.print(Text(f"  {one_line(_line(one), 600)}", style=STYLES[one.mark]))
    for left_out in found.left_out:
        console.print(Text(f"  left out: {one_line(left_out, 400)}", style="yellow"))
    console.print(Text(f"  {found.keep}"))
    console.print()
    if (drawn := table(found)) is not None:
        draw(drawn, console)


def _line(one: Line) -> str:
    """`look: control: it knew 1 of 20, which are not counted: hb-sf-01 (a control ran, and knew at most 3 of 20)`."""
    return f"{one.mark}: {one.name}: {one.said} ({one.rule})"
