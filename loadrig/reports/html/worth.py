"""Cost against accuracy: each arm between its intervals, the frontier of those that no other is better than in both,
and those that have no place with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import altair as alt

from loadrig.analysis.frontier import Placed
from loadrig.analysis.grading import PRECHECK
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.charts import COLOURS, svg
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import Row, data
from loadrig.reports.html.labelling import places
from loadrig.reports.html.named import names_of
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_number, of_share, paragraph, picture
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, amount, label, share

MOST = 4  # dominated arms that the sentence names
WIDE_PX, HIGH_PX = 600, 300
WIDE = 20  # times from the cheapest to the dearest: then money is drawn by its logarithm


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where no arm has a place and none has a reason."""
    found = summary.frontier
    if not found.placed and not found.unplaced:
        return None
    drawn = None
    if found.placed:
        about = "Cost of a question against the share right, by arm"
        drawn = picture(svg(chart(summary), about), caption(summary), table=_places(summary))
    lines = Grid(
        "Not placed",
        ("not placed", "why"),
        tuple((label(one.arm, one.model, models_of(summary)), one.why) for one in found.unplaced),
        words=True,
    )
    return Section(
        "Cost against accuracy",
        body(paragraph(told(summary)), drawn, grid(lines) if found.unplaced else None),
    )


def told(summary: Summary) -> str:
    """The frontier in a sentence."""
    placed = summary.frontier.placed
    if not placed:
        return "No arm has both a known cost and a share right."
    best = sorted((one for one in placed if one.dominated_by is None), key=lambda one: one.cost)
    rest = [f"{_name(summary, one)} by {one.dominated_by}" for one in placed if one.dominated_by is not None]
    said = [f"{_name(summary, one)} ({_money(summary, one)}, {one.right.k}/{one.right.n})" for one in best]
    more = f"; dominated: {', '.join(rest[:MOST])}{' and more' if len(rest) > MOST else ''}" if rest else ""
    by = f"Right by {summary.grading.by}" + (", which is no grade." if summary.grading.by == PRECHECK else ".")
    return f"On the frontier, from the cheapest: {', '.join(said)}{more}. {by}"


def caption(summary: Summary) -> str:
    """What is drawn, what the marks mean, and what it is worth."""
    simulated = " Simulated: both axes are dial settings of the simulator, not evidence." if summary.simulated else ""
    log = " Money is on a logarithmic axis." if _is_wide(summary.frontier.placed) else ""
    return (
        "A question's cost with its 95 % interval (bootstrap over questions) against the share right of the questions "
        "asked with Wilson's. Filled and joined: the frontier, which no arm is better than in both, by the values; "
        f"where intervals overlap another draw of questions may order two arms otherwise.{log}{simulated}"
    )


def chart(summary: Summary) -> alt.LayerChart | alt.FacetChart:
    """Arms by what a question costs and how often it is right."""
    placed = summary.frontier.placed
    wide = _is_wide(placed)
    domain = _domain(placed, wide=wide)
    rows = _labelled([_row(summary, one) for one in placed], domain, wide=wide)
    scale = alt.Scale(type="log" if wide else "linear", domain=list(domain), nice=False)
    title = f"{summary.currency or 'cost'} a question"
    x = alt.X("cost:Q", scale=scale, title=title)
    y = alt.Y("right:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="right of asked")
    base = alt.Chart(data(rows))
    best = sorted((row for row in rows if row["on"]), key=lambda row: (float(row["cost"]), float(row["right"])))
    on = alt.Chart(data(best))
    across = base.mark_rule(opacity=0.6, color=COLOURS[0]).encode(
        x=alt.X("low:Q", scale=scale, title=title), x2=alt.X2("high:Q"), y=y
    )
    up = base.mark_rule(opacity=0.6, color=COLOURS[0]).encode(
        x=x, y=alt.Y("under:Q", title="right of asked"), y2=alt.Y2("over:Q")
    )  # fmt: skip
    line = on.mark_line(color=COLOURS[2], strokeWidth=1.5, strokeDash=[4, 2], interpolate="step-after").encode(x=x, y=y)
    hollow = base.transform_filter("!datum.on").mark_point(size=70, color=COLOURS[0], strokeWidth=2)
    filled = base.transform_filter("datum.on").mark_point(size=90, color=COLOURS[2], filled=True, opacity=1)
    dots = [marks.encode(x=x, y=y, description=alt.Description("told:N")) for marks in (hollow, filled)]
    names = base.mark_text(align="left", fontSize=11).encode(
        x=alt.X("label_x:Q", title=title), y=alt.Y("label_y:Q", title="right of asked"), text=alt.Text("arm:N")
    )
    return alt.layer(across, up, line, *dots, names).properties(width=WIDE_PX, height=HIGH_PX)


def _row(summary: Summary, one: Placed) -> Row:
    low, high = (one.cost, one.cost) if one.low is None or one.high is None else (one.low, one.high)
    name = f"{_name(summary, one)}{' (>=)' if one.at_least else ''}"
    return {
        "arm": name, "cost": one.cost, "low": low, "high": high, "right": one.right.share, "under": one.right.low,
        "over": one.right.high, "on": one.dominated_by is None,
        "told": f"{name}: {_money(summary, one)} a question, right {share(one.right)}",
    }  # fmt: skip


def _labelled(rows: Sequence[Row], domain: tuple[float, float], *, wide: bool) -> list[Row]:
    """Each row with a place for its name, in the units of the axes."""
    of: Callable[[float], float] = math.log10 if wide else float
    first, span = of(domain[0]), of(domain[1]) - of(domain[0])
    marks = [(WIDE_PX * (of(row["cost"]) - first) / span, HIGH_PX * (1 - row["right"])) for row in rows]
    found = places(marks, [row["arm"] for row in rows], HIGH_PX)
    at = [first + span * x / WIDE_PX for x, _ in found]
    return [
        {**row, "label_x": 10**x if wide else x, "label_y": 1 - y / HIGH_PX}
        for row, x, (_, y) in zip(rows, at, found, strict=True)
    ]


def _domain(placed: Sequence[Placed], *, wide: bool) -> tuple[float, float]:
    """The money on the axis, with some room at its ends."""
    ends = [end for one in placed for end in (one.low, one.high, one.cost) if end is not None]
    return (min(ends) / 1.5, max(ends) * 1.5) if wide else (0.0, 1.08 * max(ends) or 1.0)


def _is_wide(placed: Sequence[Placed]) -> bool:
    costs = [one.low if one.low is not None else one.cost for one in placed]
    return min(costs) > 0 and max(one.cost for one in placed) > WIDE * min(costs)


def _places(summary: Summary) -> Grid:
    rows = tuple(
        (
            _name(summary, one), of_share(summary, f"/frontier/placed/{place}/right"), _cost(summary, place, one),
            str(one.asked), str(one.questions), _rank(one),
        )
        for place, one in enumerate(summary.frontier.placed)
    )  # fmt: skip
    headers = ("arm", "right", f"{summary.currency or 'cost'}\na question", "asked", "questions", "dominated by")
    notes = ("asked: trials that the cost is a mean of; questions: that its interval draws from",)
    return Grid("Cost against accuracy", headers, rows, notes)


def _rank(one: Placed) -> str:
    certain = "" if one.certain else ", if that costs no more than is known"
    return "on the frontier" if one.dominated_by is None else f"{one.dominated_by}{certain}"


def _cost(summary: Summary, place: int, one: Placed) -> Cell:
    found = of_number(summary, f"/frontier/placed/{place}/cost")
    between = NONE if one.low is None or one.high is None else f"{_amount(one.low)} to {_amount(one.high)}"
    return replace(found, text=_money(summary, one), small=between)


def _name(summary: Summary, one: Placed) -> str:
    return names_of(summary)[one.arm, one.model]


def _money(summary: Summary, one: Placed) -> str:
    return f"{'>= ' if one.at_least else ''}{_amount(one.cost)} {summary.currency or ''}".rstrip()


def _amount(value: float) -> str:
    return amount(f"{value:.12f}")
