"""The rig itself: how late its loops woke against the limit, its CPU, and the trials it kept in flight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.bound import CPU_LIMIT
from loadrig.log import RunFolder
from loadrig.reports import charts, rig
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import NUMBER, ROW, Row, data, labels, rows_axis
from loadrig.reports.html.pieces import body, grid, picture
from loadrig.reports.table import bound_mark

MOST_ROWS = 24
WIDE, NARROW = 220, 130
CAPTION = (
    "A process and stage a row. Left: how late a 10 ms timer of its loop ran, dot at 99 %, circle at the worst, stroke "
    "at the limit of the former. Middle: the busiest five seconds, as a share of one core; stroke at the limit. Right: "
    "the most trials it had in flight; stroke at what it was told to keep. A stage of under five seconds has no CPU "
    "share. Over one of the limits, the stage is client-bound: its times are in part the rig's."
)


def section(_run: RunFolder, summary: Summary) -> Section | None:
    """None where the rig measured nothing of itself."""
    table = rig.itself(summary)
    rows = list(_rows(summary))
    if table is None:
        return None
    stamps = rig.stamps(summary)
    drawn = any(row.get("p99") is not None for row in rows)
    return Section(
        "The rig itself",
        body(
            picture(_drawn(rows[:MOST_ROWS]), CAPTION + _left_out(len(rows)), table=table) if drawn else grid(table),
            None if stamps is None else grid(stamps),
        ),
    )


def _left_out(n: int) -> str:
    return f" {n - MOST_ROWS} rows are left out here; the table has all." if n > MOST_ROWS else ""


def _rows(summary: Summary) -> Iterator[Row]:
    marks = [(stage.stage, one) for stage in summary.stages for one in stage.client]
    names = labels(f"{stage}, {one.process}{bound_mark(one.bound)}" for stage, one in marks)
    for name, (_, one) in zip(names, marks, strict=True):
        row: dict[str, object] = {"name": name, "limit": one.lag_limit_ns / 1e6, "cpu_limit": CPU_LIMIT}
        if one.lag_p99_ns is not None and one.lag_max_ns is not None:
            told = f"{name}: lag p99 {one.lag_p99_ns / 1e6:.1f} ms, worst {one.lag_max_ns / 1e6:.1f} ms"
            row |= {"p99": one.lag_p99_ns / 1e6, "max": one.lag_max_ns / 1e6, "told": told}
        if one.cpu_share_max is not None:
            row |= {"cpu": one.cpu_share_max, "told_cpu": f"{name}: CPU {one.cpu_share_max:.0%} of a core"}
        if one.in_flight_max is not None and one.in_flight_target is not None:
            told = f"{name}: at most {one.in_flight_max} in flight, told to keep {one.in_flight_target}"
            row |= {"places": one.in_flight_max, "places_limit": one.in_flight_target, "told_places": told}
        yield row


def _drawn(rows: list[Row]) -> str:
    names = [str(row["name"]) for row in rows]
    base = alt.Chart(data(rows)).encode(y=rows_axis(names))
    lag = alt.X("p99:Q", title="loop lag, ms", axis=alt.Axis(tickCount=5, format=NUMBER))
    stroke: dict[str, Any] = {"thickness": 2, "size": 14, "color": charts.FAILED}
    left = alt.layer(
        base.mark_rule(opacity=0.4).encode(x=lag, x2=alt.X2("max:Q")),
        base.mark_point(filled=True, size=60, opacity=1, color=charts.COLOURS[0]).encode(
            x=lag, description=alt.Description("told:N")
        ),
        base.mark_point(size=50, opacity=1, color=charts.COLOURS[0]).encode(
            x=alt.X("max:Q"), description=alt.Description("told:N")
        ),
        base.mark_tick(**stroke).encode(x=alt.X("limit:Q")),
    ).properties(width=WIDE + 40, height=ROW * len(names))
    panels = [left]
    if any("cpu" in row for row in rows):
        share = alt.X("cpu:Q", title="CPU, share of a core", scale=alt.Scale(domainMin=0), axis=alt.Axis(format=NUMBER))
        panels.append(_beside(rows, share, "cpu_limit:Q").properties(width=WIDE))
    if any("places" in row for row in rows):
        places = alt.X("places:Q", title="in flight", scale=alt.Scale(domainMin=0), axis=alt.Axis(tickCount=4))
        panels.append(_beside(rows, places, "places_limit:Q").properties(width=NARROW))
    return charts.svg(alt.hconcat(*panels, spacing=28), "Loop lag, CPU and trials in flight of the rig's processes")


def _beside(rows: list[Row], x: alt.X, limit: str) -> alt.LayerChart | alt.FacetChart:
    """A panel beside the first one: a dot a row, and a stroke at its limit."""
    names = [str(row["name"]) for row in rows]
    base = alt.Chart(data(rows)).encode(y=rows_axis(names).axis(None))
    dot = base.mark_point(filled=True, size=60, opacity=1, color=charts.COLOURS[0])
    told = f"told_{limit.partition('_')[0]}:N"
    return alt.layer(
        dot.encode(x=x, description=told), base.mark_tick(thickness=2, size=14, color=charts.FAILED).encode(x=limit)
    ).properties(height=ROW * len(names))
