"""What was found and what was right, by category of question, each share with its n and interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
from markupsafe import Markup

from loadrig.analysis.grading import PRECHECK
from loadrig.analysis.selection import ALL
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.charts import COLOURS, svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import Row, data
from loadrig.reports.html.named import NAMES, cells, names_of
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_number, of_share, paragraph, picture
from loadrig.reports.quality import RECALL
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, fraction, label, share

SMALL = 10  # questions: fewer are drawn hollow and marked
SMALL_NOTE = f"~ fewer than {SMALL} questions: hardly more than an anecdote"
CLASSES = ("right", "right, few questions", "recall")


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where nothing can be graded and nothing was searched for."""
    values = list(_values(summary))
    if not values:
        return None
    by = summary.grading.by + (", which is no grade" if summary.grading.by == PRECHECK else "")
    simulated = " Simulated: dial settings, not evidence." if summary.simulated else ""
    caption = (
        f"Share right of the questions asked, by {by}, with Wilson's 95 % interval; hollow: fewer than {SMALL} "
        "questions. Diamonds: recall of gold documents, a mean over questions without an interval, of arms that search."
        f"{simulated}"
    )
    drawn = picture(svg(chart(values), "Right and found by category and arm"), caption)
    dropped = paragraph(
        f"{len(summary.dropped)} questions are left out of accuracy, for the control answered them rightly without "
        "any document; latency, tokens and money keep them."
    )
    tables = [accuracy(summary), *(recalls(summary, figure) for figure in RECALL)]
    return Section(
        "Right and found, by category",
        body(drawn, dropped if summary.dropped else None, *(_under(table) for table in tables if table is not None)),
    )


def _under(table: Grid) -> Markup:
    return Markup("<h3>{}</h3>").format(table.title) + grid(table)


def accuracy(summary: Summary) -> Grid | None:
    """An arm on a row, a category in a column."""
    names = list(dict.fromkeys(of.category for row in summary.accuracy for of in row.categories))
    rows = []
    for place, row in enumerate(summary.accuracy):
        places = {of.category: number for number, of in enumerate(row.categories)}
        right = [_right(summary, place, places.get(name)) for name in names]
        whole = row.categories[0]
        beside = (str(whole.unanswered), str(whole.failed), f"{whole.right}/{whole.checked}")
        rows.append(cells(label(row.arm, row.model, models_of(summary)), *right, *beside))
    if not any(cell for row in rows for cell in row[1:] if isinstance(cell, Cell) and cell.pointer):
        return None
    notes = (
        f"right by {summary.grading.by}, of the questions asked that can be graded, each by its first answer",
        "unanswered, failed: of these questions; all repetitions: trials, not independent, so without an interval",
        SMALL_NOTE,
    )
    headers = ("right", *names, "un-\nanswered", "failed", "all\nrepetitions")
    return Grid("Accuracy", headers, tuple(rows), notes)


def _right(summary: Summary, place: int, number: int | None) -> Cell:
    if number is None:
        return Cell(NONE)
    found = summary.accuracy[place].categories[number].of_asked
    cell = of_share(summary, f"/accuracy/{place}/categories/{number}/of_asked")
    return cell if found is None or found.n >= SMALL else _marked(cell)


def _marked(cell: Cell) -> Cell:
    return Cell(f"{cell.text}~", cell.pointer, cell.value, cell.small, cell.title)


def recalls(summary: Summary, figure: str) -> Grid | None:
    """The same of recall, evidence or amending documents; None where nothing is known."""
    names = list(dict.fromkeys(of.category for row in summary.recall for of in row.categories))
    rows = []
    for place, row in enumerate(summary.recall):
        found: list[Cell] = []
        for name in names:
            number = next((at for at, of in enumerate(row.categories) if of.category == name), None)
            mean = None if number is None else getattr(row.categories[number], figure)
            if mean is None:
                found.append(Cell(NONE))
                continue
            at = f"/recall/{place}/categories/{number}/{figure}/mean"
            raw = of_number(summary, at, 3)
            told = f"mean over {mean.n} questions"
            cell = Cell(fraction(mean.mean), at, raw.value, f"n = {mean.n}", told)
            found.append(cell if mean.n >= SMALL else _marked(cell))
        if any(cell.pointer for cell in found):
            rows.append(cells(label(row.arm, row.model, models_of(summary)), *found))
    notes = (f"crediting rule {summary.crediting_rule}; a listing credits nothing", SMALL_NOTE)
    return Grid(RECALL[figure], (RECALL[figure].lower(), *names), tuple(rows), notes) if rows else None


def _values(summary: Summary) -> Iterator[Row]:
    names = names_of(summary)
    for arm in summary.accuracy:
        name = names[arm.arm, arm.model]
        for of in arm.categories:
            if (right := of.of_asked) is not None:
                kind = CLASSES[0] if right.n >= SMALL else CLASSES[1]
                told = f"{name}, {of.category}: right {share(right)}"
                yield {"arm": name, "category": of.category, "kind": kind, "value": right.share,
                       "low": right.low, "high": right.high, "told": told}  # fmt: skip
    for row in summary.recall:
        name = names[row.arm, row.model]
        for found in row.categories:
            if (mean := found.recall) is not None:
                told = f"{name}, {found.category}: recall {fraction(mean.mean)} of {mean.n} questions"
                yield {"arm": name, "category": found.category, "kind": CLASSES[2], "value": mean.mean,
                       "low": mean.mean, "high": mean.mean, "told": told}  # fmt: skip


def chart(values: Sequence[Row]) -> alt.FacetChart:
    """A panel for each category, arms below one another in the same order in all."""
    arms = list(dict.fromkeys(str(value["arm"]) for value in values))
    names = sorted({str(value["category"]) for value in values} - {ALL})
    base = alt.Chart().encode(y=alt.Y("arm:N", sort=arms, title=None, axis=NAMES))
    x = alt.X("value:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=3), title=None)
    rules = base.mark_rule(opacity=0.6, color=COLOURS[0]).encode(
        x=alt.X("low:Q", scale=alt.Scale(domain=[0, 1]), title=None), x2=alt.X2("high:Q")
    )
    looks = ("circle", True, COLOURS[0]), ("circle", False, COLOURS[0]), ("diamond", False, COLOURS[1])
    points = [
        base.transform_filter(alt.datum.kind == kind)
        .mark_point(opacity=1, size=50, shape=shape, filled=filled, color=colour)
        .encode(x=x, description=alt.Description("told:N"))
        for kind, (shape, filled, colour) in zip(CLASSES, looks, strict=True)
    ]
    facet = alt.Facet("category:N", sort=[ALL, *names], title=None)
    return (
        alt.layer(rules, *points, data=data(values)).properties(width=130, height=alt.Step(17)).facet(facet, columns=3)
    )
