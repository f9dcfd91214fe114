"""Latency over the time of the run: an arm a row, every trial of a small run, slices of time of a large one.

Failures lie on a strip of their own at the top of a row, so that a timeout of thirty seconds does not flatten what
succeeded in one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import altair as alt

from loadrig.analysis.over_time import Course, courses, slices
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports import charts
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import NUMBER, Row, data, failure_mark, labels, row_labels, s_of
from loadrig.reports.html.pieces import Grid, body, picture
from loadrig.reports.table import NONE, bound_mark, bound_notes, label

EVERY = 400  # trials that are drawn one by one
MOST_ROWS = 16
WIDE, HIGH = 660, 50
PARTS = 4  # of a stage, in the table
ONE_BY_ONE = "A dot is a trial, where it began;"
IN_SLICES = (
    "A run of {n} trials is drawn in slices of time: line at the median of the successes that began in a slice, band "
    "from 5 to 95 %;"
)
REST = (
    " a cross at the top is a failure, or a slice with failures. Every row has its own scale; the names on top "
    "stand where stages begin. Times of begin are labels of the workers' clocks."
)


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None where nothing was timed."""
    found = courses(run)
    if not found:
        return None
    n = sum(len(course.moments) for course in found)
    caption = (ONE_BY_ONE if n <= EVERY else IN_SLICES.format(n=f"{n:,}")) + REST
    arms = grouped(((course.arm, course.model), course) for course in found)
    left_out = len(arms) - MOST_ROWS
    if left_out > 0:
        caption += f" {left_out} arms are left out here; the table has all."
    return Section("Latency over time", body(picture(_drawn(summary, found, n), caption, table=_table(summary, found))))


def _drawn(summary: Summary, found: Sequence[Course], n: int) -> str:
    arms = grouped(((course.arm, course.model), course) for course in found)
    models = list(dict.fromkeys(model for _, model in arms))
    keys = list(arms)[:MOST_ROWS]
    names = labels(label(arm, model, models) for arm, model in keys)
    end = max(course.slices[-1].to_s for course in found)
    scale, axis = alt.Scale(domain=[0, max(end, 0.001)], nice=False), alt.Axis(tickCount=8)
    x = alt.X("at:Q", title="seconds from the first trial", scale=scale, axis=axis)
    stages = list(_stages(summary, found))
    panels: list[alt.Chart | alt.LayerChart | alt.FacetChart] = [_names(stages, x.axis(None))]
    for place, (name, key) in enumerate(zip(names, keys, strict=True)):
        shown = x if place == len(keys) - 1 else x.axis(alt.Axis(labels=False, ticks=False, title=None))
        rows = list(_dots(name, arms[key]) if n <= EVERY else _bands(name, arms[key]))
        panels.append(_panel([*rows, *stages[1:]], shown, name))
    return charts.svg(alt.vconcat(*panels, spacing=10), "Latency over time, an arm a row")


def _stages(summary: Summary, found: Iterable[Course]) -> Iterator[Row]:
    """Where each stage begins, with its mark."""
    marks = {stage.stage: bound_mark(stage.client_bound) for stage in summary.stages}
    begins = {course.stage: course.slices[0].from_s for course in found}
    for name, (stage, at) in zip(labels(begins), begins.items(), strict=True):
        marked = f"{name}{marks.get(stage, '')}"
        yield {"kind": "stage", "at": round(at, 3), "name": marked, "told": f"begin of stage {marked}"}


def _names(stages: Sequence[Row], x: alt.X) -> alt.Chart:
    """The names of the stages, above where they begin."""
    text = alt.Chart(data(stages)).mark_text(align="left", fontSize=11)
    chart: alt.Chart = text.encode(x=x, text=alt.Text("name:N"), description=alt.Description("told:N")).properties(
        width=WIDE, height=12
    )
    return chart


def _panel(rows: Iterable[Row], x: alt.X, name: str) -> alt.LayerChart | alt.FacetChart:
    title = alt.TitleParams(name, anchor="start", frame="group", offset=10)
    y = alt.Y("s:Q", title=None, scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=3, format=NUMBER))
    base = alt.Chart(data(rows)).encode(x=x, description=alt.Description("told:N"))

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind == '{kind}'")

    return alt.layer(
        of("stage").mark_rule(strokeWidth=1, opacity=0.35),
        of("band").mark_area(color=charts.COLOURS[0], opacity=0.25).encode(
            y=alt.Y("low:Q", title=None), y2=alt.Y2("high:Q"), detail=alt.Detail("part:N")),
        of("line").mark_line(color=charts.COLOURS[0], strokeWidth=1.6).encode(y=y, detail=alt.Detail("part:N")),
        of("dot").mark_point(color=charts.COLOURS[0], filled=True, size=14, opacity=0.75).encode(y=y),
        of("failed").mark_point(**failure_mark(24)).encode(y=alt.value(-5)),
        title=title,
    ).properties(width=WIDE, height=HIGH)  # fmt: skip


def _dots(name: str, found: Iterable[Course]) -> Iterator[Row]:
    for course in found:
        for one in course.moments:
            took = f"{name}, {course.stage}: at {one.at_s:.1f} s, {one.took_ns / 1e9:.3f} s"
            if one.ok:
                yield {"kind": "dot", "at": round(one.at_s, 3), "s": s_of(one.took_ns), "told": took}
            else:
                yield {"kind": "failed", "at": round(one.at_s, 3), "told": f"{took}, no success"}


def _bands(name: str, found: Iterable[Course]) -> Iterator[Row]:
    for place, course in enumerate(found):
        ok = sum(one.ok for one in course.slices)
        told = f"{name}, {course.stage}: {ok} of {len(course.moments)} succeeded, in {len(course.slices)} slices"
        for one in course.slices:
            middle = round((one.from_s + one.to_s) / 2, 3)
            if one.p50_ns is not None and one.p5_ns is not None and one.p95_ns is not None:
                for at in (one.from_s, one.to_s):
                    of = {"at": round(at, 3), "part": place, "told": told}
                    yield {**of, "kind": "band", "low": s_of(one.p5_ns), "high": s_of(one.p95_ns)}
                    yield {**of, "kind": "line", "s": s_of(one.p50_ns)}
            if one.ok < one.n:
                said = f"{name}, {course.stage}: {one.n - one.ok} of {one.n} trials without success"
                yield {
                    "kind": "failed",
                    "at": middle,
                    "told": f"{said} that began within {_span(one.from_s, one.to_s)}",
                }


def _table(summary: Summary, found: Iterable[Course]) -> Grid:
    """The quarters of each stage."""
    keys = [(course.arm, course.model, course.stage) for course in found]
    rows = []
    for name, course in zip(row_labels(summary, keys), found, strict=True):
        edges = course.slices[0].from_s, course.slices[-1].to_s
        for one in slices(course.moments, edges, PARTS):
            times = (NONE if took is None else f"{took / 1e9:.3f}" for took in (one.p5_ns, one.p50_ns, one.p95_ns))
            rows.append((name, _span(one.from_s, one.to_s), str(one.n), str(one.n - one.ok), *times))
    headers = ("arm", "began within s", "trials", "without success", "5 % s", "median s", "95 % s")
    bound = bound_notes(*(stage.client_bound for stage in summary.stages))
    notes = ("quarters of a stage by time; of the successes that began in each", *bound)
    return Grid("Latency over time", headers, tuple(rows), notes)


def _span(begin: float, end: float) -> str:
    return f"{begin:.1f} to {end:.1f}"
