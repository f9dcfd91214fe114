"""What the load was: throughput against load with the knee, latency against throughput, due against sent in open loop.

Says nothing of its own: rates, knee and verdicts are the summary's. A stage that was client-bound is drawn hollow and
carries its mark in every label; a knee beyond which a stage was is the rig's, and called so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import altair as alt

from loadrig.analysis.distribution import distribution
from loadrig.analysis.load import StageLoad
from loadrig.analysis.selection import due, grouped
from loadrig.analysis.summary import Summary
from loadrig.analysis.sweep import Step, Sweep
from loadrig.log import RunFolder
from loadrig.reports import charts, sweep
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import Row, arm_scale, dash_scale, data, labels, s_of, seconds_axis
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_number, of_quantile, picture
from loadrig.reports.speed import CLOSED, OPEN
from loadrig.reports.table import FEW_NOTE, NONE, bound_mark, bound_notes, number, percent

WIDE, HIGH = 330, 230
LINES = ("scheduled", "service")
CURVE = (
    "Left: throughput against load.{fit} Right: latency against throughput, from the lowest load to the highest: "
    "circles at the median, squares at 95 %, of the successes, all arms together. A hollow mark is a client-bound "
    "stage, or one that was not checked; * fewer than 5 samples lie beyond."
)
FIT = " The thin line is the fit of the knee: as much a unit of load as at first, then no more."
BAND = " The broken line is the knee, the grey band its 95 % interval."
DUE = (
    "Share of the due trials that had ended well by a time: counted from when they were due (scheduled), and from when "
    "they were sent (service). The distance between the lines is waiting that a closed loop does not see. A line that "
    "ends below 1 ends there because the rest did not succeed."
)


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None of a run without stages."""
    if not summary.stages:
        return None
    parts = [grid(_stages(summary))]
    if summary.sweep is not None:
        if any(step.rates.per_s is not None for step in summary.sweep.steps):
            found = summary.sweep
            fit = "" if found.knee is None else FIT + BAND if found.knee.reached else FIT
            parts.append(picture(_curve(summary, found), CURVE.format(fit=fit), table=sweep.curve(summary, found)))
        parts.append(grid(replace(sweep.knee(summary.sweep), words=True)))
        if any(step.judged for step in summary.sweep.steps):
            parts.append(grid(sweep.objectives(summary.sweep)))
    opened = [stage for stage in summary.stages if stage.open_loop is not None]
    if opened:
        parts.append(picture(_due(run, opened), DUE, table=_due_table(summary)))
    return Section("Load", body(*parts))


def _stages(summary: Summary) -> Grid:
    """Every stage: what was asked for, what was reached, and what came of it."""
    rows: list[tuple[str | Cell, ...]] = []
    for place, stage in enumerate(summary.stages):
        of, loop = f"/stages/{place}", stage.open_loop
        rates: tuple[str | Cell, ...] = (
            (
                of_number(summary, f"{of}/concurrency"), of_number(summary, f"{of}/reached", 1),
                of_number(summary, f"{of}/trials_per_s", 2), percent(stage.rate_error and 1.96 * stage.rate_error),
            )
            if loop is None
            else (
                of_number(summary, f"{of}/open_loop/offered_per_s", 2),
                of_number(summary, f"{of}/open_loop/in_flight_mean", 1),
                of_number(summary, f"{of}/open_loop/achieved_per_s", 2), NONE,
            )
        )  # fmt: skip
        rows.append((
            f"{stage.stage}{bound_mark(stage.client_bound)}", *rates, of_number(summary, f"{of}/output_tokens_per_s"),
            number(stage.little, 2), of_number(summary, f"{of}/asked"), of_number(summary, f"{of}/tail"),
            of_number(summary, f"{of}/failed"), BOUND[stage.client_bound],
        ))  # fmt: skip
    is_open = any(stage.open_loop for stage in summary.stages)
    headers = (
        "stage", "offered a second" if is_open else "N", "mean in flight", "trials/s", "+-", "tokens/s", "Little",
        "asked", "tail", "failed", "client-bound",
    )  # fmt: skip
    notes = (
        OPEN if is_open else CLOSED,
        "+-: 95 % interval of trials/s; Little: trials ended a second x mean time / in flight, 1 in a long stage",
        *bound_notes(*(stage.client_bound for stage in summary.stages)),
    )
    return Grid("Load", headers, tuple(rows), notes)


BOUND = {True: "yes", False: "no", None: "not checked"}


def _curve(summary: Summary, found: Sweep) -> str:
    stages = {stage.stage: stage for stage in summary.stages}
    steps = sorted((step for step in found.steps if step.rates.per_s is not None), key=lambda step: step.load)
    pairs = [(step, stages[step.stage]) for step in steps]
    chart = alt.hconcat(_throughput(found, pairs), _against(pairs), spacing=36).configure_legend(orient="top")
    return charts.svg(chart, "Throughput against load with the knee, and latency against throughput")


def _throughput(found: Sweep, pairs: Sequence[tuple[Step, StageLoad]]) -> alt.LayerChart | alt.FacetChart:
    rows: list[Row] = []
    for step, stage in pairs:
        per_s = step.rates.per_s or 0.0
        error = 1.96 * (stage.rate_error or 0) * per_s if stage.open_loop is None else 0.0
        told = f"{step.stage}{bound_mark(step.client_bound)}: {per_s:.2f} trials/s at {step.load:g} {found.unit}"
        rows.append({"kind": "solid" if step.client_bound is False else "hollow", "load": step.load, "per_s": per_s,
                     "low": per_s - error, "high": per_s + error, "told": told,
                     "name": f"{step.stage}{bound_mark(step.client_bound)}"})  # fmt: skip
    most = max(step.load for step, _ in pairs)
    if (knee := found.knee) is not None:
        fit = [(0.0, 0.0), (min(knee.at, most), knee.slope * min(knee.at, most))]
        fit += [(most, knee.most_per_s)] if knee.at < most else []
        rows += [{"kind": "fit", "load": x, "per_s": y} for x, y in fit]
        if knee.reached:
            told = f"knee at {knee.at:.3g} {found.unit}, 95 % interval {knee.low:.3g} to {knee.high:.3g}"
            rows.append({"kind": "knee", "load": knee.at, "low": knee.low, "high": knee.high, "told": told})
    base = alt.Chart(data(rows)).encode(description=alt.Description("told:N"))

    def of(kind: str) -> alt.Chart:
        return base.transform_filter(f"datum.kind == '{kind}'")

    scale, axis = alt.Scale(domainMin=0, domainMax=most, nice=False), alt.Axis(tickCount=6)
    x = alt.X("load:Q", title=f"load, {found.unit}", scale=scale, axis=axis)
    y = alt.Y("per_s:Q", title="trials/s", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=5))
    stages = base.transform_filter("datum.kind == 'solid' || datum.kind == 'hollow'")
    return alt.layer(
        of("knee").mark_rect(opacity=0.15, color="currentColor").encode(x=alt.X("low:Q"), x2=alt.X2("high:Q")),
        of("knee").mark_rule(strokeDash=[4, 3]).encode(x=x),
        of("fit").mark_line(strokeWidth=1, color="currentColor", opacity=0.6).encode(x=x, y=y),
        stages.mark_rule(color=charts.COLOURS[0]).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        of("solid").mark_point(filled=True, size=70, opacity=1, color=charts.COLOURS[0]).encode(x=x, y=y),
        of("hollow").mark_point(size=70, opacity=1, color=charts.COLOURS[0]).encode(x=x, y=y),
        stages.mark_text(dy=-12, fontSize=11).encode(x=x, y=y, text=alt.Text("name:N")),
    ).properties(width=WIDE, height=HIGH)


def _against(pairs: Sequence[tuple[Step, StageLoad]]) -> alt.LayerChart | alt.FacetChart:
    rows = list(_points(pairs))
    is_open = any(stage.open_loop for _, stage in pairs)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("per_s:Q", title="trials/s", scale=alt.Scale(zero=True, nice=True), axis=alt.Axis(tickCount=6)),
        y=seconds_axis(alt.Y, "s", [float(row["s"]) for row in rows], "scheduled" if is_open else "service"),
    )
    quantiles = alt.Scale(domain=["median", "95 %"], range=["circle", "square"])
    line = base.mark_line(strokeWidth=1, opacity=0.5).encode(
        order=alt.Order("place:O"), color=alt.Color("q:N", title=None, scale=arm_scale(["median", "95 %"]), legend=None)
    )
    points = [
        base.transform_filter(f"{'' if solid else '!'}datum.solid")
        .mark_point(filled=solid, size=60, opacity=1)
        .encode(
            color=alt.Color("q:N", title=None, scale=arm_scale(["median", "95 %"])),
            shape=alt.Shape("q:N", title=None, scale=quantiles),
            description=alt.Description("told:N"),
        )
        for solid in (True, False)
    ]
    named = base.transform_filter("datum.q == '95 %'").mark_text(dy=-11, fontSize=11).encode(text=alt.Text("name:N"))
    return alt.layer(line, *points, named).properties(width=WIDE, height=HIGH)


def _points(pairs: Sequence[tuple[Step, StageLoad]]) -> Iterator[Row]:
    for place, (step, stage) in enumerate(pairs):
        spread = (stage.service if stage.open_loop is None else stage.open_loop.scheduled).successes
        name = f"{step.stage}{bound_mark(step.client_bound)}"
        for title, found in (("median", spread.p50), ("95 %", spread.p95)):
            if found is not None and found.value_ns is not None:
                told = f"{name}: {title} {found.value_ns / 1e9:.3f} s at {step.rates.per_s or 0:.2f} trials/s"
                yield {
                    "place": place, "q": title, "s": s_of(found.value_ns), "per_s": step.rates.per_s, "told": told,
                    "name": f"{name}{'*' if found.few else ''}", "solid": step.client_bound is False,
                }  # fmt: skip


def _due(run: RunFolder, opened: Sequence[StageLoad]) -> str:
    records = grouped((record.stage, record) for record in due(run))
    names = labels(f"stage {stage.stage}{bound_mark(stage.client_bound)}" for stage in opened)
    panels = []
    for name, stage in zip(names, opened, strict=True):
        rows: list[Row] = []
        for measure in LINES:
            of = distribution(records.get(stage.stage, ()), measure)
            told = f"{name}, {measure}: {of.ok} of {of.n} due trials ended well"
            rows += [{"line": measure, "s": s_of(value), "share": round(place / of.n, 5), "told": told}
                     for value, place in of.points]  # fmt: skip
        panels.append(_shares(rows, name))
    chart = alt.concat(*panels, columns=2, spacing=28).configure_legend(orient="top", symbolSize=300)
    return charts.svg(chart, "Scheduled against service latency, a panel a stage")


def _shares(rows: Sequence[Row], name: str) -> alt.Chart:
    chart: alt.Chart = (
        alt.Chart(data(rows), title=name)
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=seconds_axis(alt.X, "s", [float(row["s"]) for row in rows], "latency"),
            y=alt.Y("share:Q", title="share of due trials", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)),
            color=alt.Color("line:N", title=None, sort=list(LINES), scale=arm_scale(LINES)),
            strokeDash=alt.StrokeDash("line:N", title=None, sort=list(LINES), scale=dash_scale(LINES)),
            description=alt.Description("told:N"),
        )
        .properties(width=WIDE, height=HIGH)
    )
    return chart


def _due_table(summary: Summary) -> Grid:
    rows: list[tuple[str | Cell, ...]] = []
    for place, stage in enumerate(summary.stages):
        if (loop := stage.open_loop) is None:
            continue
        of = f"/stages/{place}"
        places = (
            f"{of}/open_loop/scheduled/successes/p50", f"{of}/open_loop/scheduled/successes/p95",
            f"{of}/open_loop/scheduled/with_failures/p95", f"{of}/service/successes/p50",
            f"{of}/service/successes/p95", f"{of}/open_loop/dispatch_delay/p50", f"{of}/open_loop/dispatch_delay/p95",
        )  # fmt: skip
        counts = (f"{loop.scheduled.ok} of {loop.scheduled.n}", of_number(summary, f"{of}/open_loop/late"))
        cells = (of_quantile(summary, pointer, small=False) for pointer in places)
        rows.append((f"{stage.stage}{bound_mark(stage.client_bound)}", *counts, *cells))
    headers = (
        "stage", "ok of due", "never sent", "scheduled p50 s", "p95 s", "p95 s with failures", "service p50 s",
        "p95 s", "sent late p50 s", "p95 s",
    )  # fmt: skip
    bound = bound_notes(*(stage.client_bound for stage in summary.stages))
    return Grid("Open loop", headers, tuple(rows), (FEW_NOTE, *bound))
