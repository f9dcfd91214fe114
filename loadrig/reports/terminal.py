"""The summary on a terminal: readable at 110 columns, in colour where there is one. Prints only to its console."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from loadrig.analysis.summary import Summary
from loadrig.reports import built, caching, freshness, grading, load, long_context, quality, routes, safeguards, speed
from loadrig.reports.table import Table, money, one_line

FOLDED = 12  # columns that a folded column keeps
PAGE = 110  # columns where the output is no terminal and has no width of its own


def show(summary: Summary, console: Console | None = None) -> None:
    """Prints about two screens. The first tells what came of the run, whether it can be believed, and the headline of
    each stage; then come what was not answered and why, accuracy and recall by category, and the bill. The rest is in
    report.md."""
    console = console or Console()
    draw_head(summary, console)
    draw_warnings(summary, console)
    for table in speed.headlines(summary):
        draw(table, console)
    if (arrivals := load.arrivals(summary)) is not None:
        draw(arrivals, console)
    elif len(summary.stages) > 1:
        draw(load.stages(summary), console)
    draw_troubles(summary, console)
    ways = (routes.ways(summary, full=False), routes.beside(summary))
    judged = (grading.calibrations(summary), grading.faithfulness(summary))
    shown = (
        quality.accuracy(summary, full=False),
        *judged,
        *quality.recalls(summary, figures=("recall",)),
        *ways,
        built.table(summary),
    )
    for table in (table for table in shown if table is not None):
        draw(table, console)
    for table in (*long_context.short(summary), *caching.tables(summary), *freshness.tables(summary)):
        draw(table, console)
    lines = [f"{line.name} {money(line.money)}" for line in summary.bill.lines if line.money.amount != "0"]
    bill = Text(f"Whole bill: {money(summary.bill.total)}  ({'; '.join(lines) or 'nothing charged'})")
    if count := len(summary.warnings):
        bill.append(f"  {count} {'warning' if count == 1 else 'warnings'} above", style="yellow")
    console.print(bill)
    if summary.dropped:
        named = ", ".join(dict.fromkeys(drop.question for drop in summary.dropped))
        console.print(Text(one_line(f"Dropped from accuracy (the control knew them): {named}", 400)))


def draw_head(summary: Summary, console: Console) -> None:
    """The run's name, over everything else that it was simulated, if it was, and what its safeguards found."""
    if not console.is_terminal:
        console.width = max(console.width, PAGE)
    counts = summary.counts[0]
    console.print(Text(one_line(f"Run {summary.identity.run}, plan {summary.identity.plan}"), style="bold"))
    if summary.note:
        console.print(Panel(Text(summary.note), style="yellow", expand=False))
    console.print(
        Text(
            f"{counts.planned} planned = {counts.answered} answered + {counts.unanswered} unanswered "
            f"+ {counts.failed} failed + {counts.not_run} not run"
            + (f" + {counts.missing} missing" if counts.missing else "")
        )
    )
    draw_safeguards(summary, console)


def draw_safeguards(summary: Summary, console: Console) -> None:
    """How many checks passed, and those that did not, the worst first."""
    console.print(Text(safeguards.headline(summary), style="bold"))
    for one in safeguards.troubles(summary):
        style = "red" if one.verdict == "failed" else "yellow" if one.verdict == "warned" else "dim"
        console.print(Text(f"  {one_line(safeguards.line(one, summary), 400)}", style=style))


def draw_troubles(summary: Summary, console: Console) -> None:
    """What became of trials that were not answered, why, and what that does to latency; nothing when all were."""
    for table in (load.outcomes(summary, full=False), load.reasons(summary), speed.with_failures(summary)):
        if table is not None:
            draw(table, console)


def draw_warnings(summary: Summary, console: Console) -> None:
    """Each warning on a line of its own."""
    for warning in summary.warnings:
        console.print(Text(f"warning: {one_line(warning, 400)}", style="yellow"))


def draw(table: Table, console: Console) -> None:
    """One table; cells are text, never markup. Where it is too wide the column of the longest cell folds, where that
    is not enough every column does: nothing is cut off."""
    widths = [max(map(_width, column)) for column in zip(table.headers, *table.rows, strict=True)]
    longest = widths.index(max(widths))
    fits = sum(widths) - widths[longest] + FOLDED + len(widths) <= console.width
    drawn = RichTable(
        title=Text(table.title, style="bold"), title_justify="left", box=SIMPLE_HEAD, padding=0, show_edge=False
    )
    for place, header in enumerate(table.headers):
        drawn.add_column(
            Text(header),
            justify="right" if place and not table.words else "left",
            vertical="bottom",
            overflow="fold",
            no_wrap=fits and place != longest,
            min_width=min(widths[place], FOLDED) if place == longest else None,
        )
    for row in table.rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(drawn)
    for note in table.notes:
        console.print(Text(f"  {one_line(note, 400)}", style="dim"))
    console.print()


def _width(cell: str) -> int:
    return max(map(len, cell.split("\n")))
