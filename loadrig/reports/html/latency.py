"""Latency by arm: how the trials are spread, the first token beside the first answer and the end, whole distributions.

Spreads are of scheduled latency where a stage is an open loop, else of service latency. Decides nothing: quantiles are
the summary's, distributions those of `loadrig.analysis.distribution`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from loadrig.analysis.distribution import POINTS, SHARES, Distribution, distribution
from loadrig.analysis.latency import Latency
from loadrig.analysis.selection import due, grouped, timed
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.analysis.tracing import trial_at
from loadrig.log import RunFolder
from loadrig.reports import charts
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import (
    LABEL,
    ROW,
    Row,
    arm_scale,
    dash_scale,
    data,
    failure_mark,
    labels,
    row_labels,
    rows_axis,
    s_of,
    seconds_axis,
)
from loadrig.reports.html.pieces import Cell, Grid, body, grid, of_quantile, picture
from loadrig.reports.speed import notes_of, row_header, timed_name
from loadrig.reports.table import FEW_NOTE, bound_mark, one_line, seconds
from loadrig.stats import FEW, rank
from loadrig.words.record import Record

Key = tuple[str, str, str]
WIDE, PANEL, MOST_LINES, MOST_PANELS = 520, 340, 7, 8
SIDE = 290
MARKS = (("first token", "circle"), ("first answer", "square"), ("end", "diamond"))


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None where nothing was timed."""
    arms = [(place, arm) for place, arm in enumerate(summary.arms) if _whole(arm).n]
    if not arms:
        return None
    groups = grouped(((r.arm, r.model, r.stage), r) for r in timed(run))
    late = grouped(((r.arm, r.model, r.stage), r) for r in due(run))
    spreads = {key: distribution((late if arm.scheduled else groups).get(key, ()), _measure(arm))
               for _, arm in arms if (key := _key(arm))}  # fmt: skip
    firsts = _firsts_table(summary, arms, groups=groups)
    parts = [
        picture(_boxes(summary, spreads), _boxes_caption(arms), table=_boxes_table(summary, arms, groups=late)),
        picture(_firsts(summary, arms), FIRSTS, table=firsts) if any(arm.ttft.ok for _, arm in arms) else grid(firsts),
        *(picture(drawn, caption) for drawn, caption in _curves(summary, spreads)),
    ]
    return Section("Latency", body(*parts))


FIRSTS = (
    "First token (TTFT), first token of the answer (TTFAT) and end, of the successes. What lies between the first two "
    "is thinking, tools and earlier turns; left at the median, right at 95 %. Hollow: fewer than 5 samples lie beyond."
)


def _key(arm: ArmFigures) -> Key:
    return arm.arm, arm.model, arm.stage


def _measure(arm: ArmFigures) -> str:
    return "service" if arm.scheduled is None else "scheduled"


def _whole(arm: ArmFigures) -> Latency:
    return arm.service if arm.scheduled is None else arm.scheduled


def _boxes_caption(arms: Sequence[tuple[int, ArmFigures]]) -> str:
    names = " or ".join(dict.fromkeys(_measure(arm) for _, arm in arms))
    return (
        f"Spread of {names} latency over the successes: line from 5 to 95 %, bar from 25 to 75 %, dot at the median; "
        "on the right, of how many timed trials; * fewer than 5 lie beyond 95 %. A cross: with failures beyond every "
        "success, 95 % lies among them."
    )


def _boxes(summary: Summary, spreads: Mapping[Key, Distribution]) -> str:
    names = row_labels(summary, list(spreads))
    rows: list[Row] = []
    for name, of in zip(names, spreads.values(), strict=True):
        row: dict[str, object] = {"name": name, "told": f"{name}: {of.ok} of {of.n} trials succeeded"}
        row |= {"n": f"{of.ok} of {of.n}{_star(of)}", "failed": of.ok < 0.95 * of.n}
        if of.box:
            row |= dict(zip(("p5", "p25", "p50", "p75", "p95"), map(s_of, of.box), strict=True))
            row["told"] = f"{name}: median {s_of(of.box[2]):.3f} s, 5 to 95 %: {s_of(of.box[0]):.3f} to " + (
                f"{s_of(of.box[4]):.3f} s, {of.ok} of {of.n} trials"
            )
        rows.append(row)
    values = [s_of(value) for of in spreads.values() for value in of.box]
    base = alt.Chart(data(rows)).encode(y=rows_axis(names), description=alt.Description("told:N"))
    line = base.mark_rule(strokeWidth=1.5).encode(x=seconds_axis(alt.X, "p5", values, "latency"), x2=alt.X2("p95:Q"))
    bar = base.mark_bar(size=9, color=charts.COLOURS[0], opacity=0.75).encode(x=alt.X("p25:Q"), x2=alt.X2("p75:Q"))
    dot = base.mark_point(filled=True, size=60, opacity=1, color="currentColor").encode(x=alt.X("p50:Q"))
    count = base.mark_text(align="left", fontSize=12).encode(x=alt.value(WIDE + 26), text=alt.Text("n:N"))
    cross = base.transform_filter("datum.failed").mark_point(**failure_mark()).encode(x=alt.value(WIDE + 14))
    chart = alt.layer(line, bar, dot, count, cross).properties(width=WIDE, height=ROW * len(names))
    return charts.svg(chart, "Spread of latency by arm")


def _star(of: Distribution) -> str:
    """Whether fewer than five successes lie beyond their value at 95 %."""
    return "*" if of.box and of.ok - rank(SHARES[-1], of.ok) < FEW else ""


def _boxes_table(
    summary: Summary, arms: Sequence[tuple[int, ArmFigures]], *, groups: Mapping[Key, Sequence[Record]]
) -> Grid:
    rows: list[tuple[str | Cell, ...]] = []
    for place, arm in arms:
        measure = _measure(arm)
        of = f"/arms/{place}/{measure}"
        behind = trial_at(groups.get(_key(arm), ()), measure, 0.5, 0.95, 0.99)
        cells = (
            of_quantile(summary, f"{of}/successes/{name}", trial=trial or "")
            for name, trial in zip(("p50", "p95", "p99"), behind, strict=True)
        )
        failing = (of_quantile(summary, f"{of}/with_failures/{name}", small=False) for name in ("p50", "p95", "p99"))
        whole = _whole(arm)
        rows.append((timed_name(summary, arm), f"{whole.ok} of {whole.n}", *cells, *failing))
    headers = (row_header(summary), "ok", "p50 s", "p95 s", "p99 s", "with failures: p50 s", "p95 s", "p99 s")
    notes = ("small: 95 % interval; a figure leads to the trial whose time it is", FEW_NOTE)
    return Grid("Latency", headers, tuple(rows), (*notes, *notes_of(summary)))


def _firsts(summary: Summary, arms: Sequence[tuple[int, ArmFigures]]) -> str:
    names = row_labels(summary, [_key(arm) for _, arm in arms])
    rows = [row for name, (_, arm) in zip(names, arms, strict=True) for row in _first_rows(name, arm)]
    panels = []
    for quantile, title in (("p50", "median"), ("p95", "95 %")):
        mine = [row for row in rows if row["q"] == quantile]
        values = [float(row["s"]) for row in mine]
        y = rows_axis(names) if quantile == "p50" else rows_axis(names).axis(None)
        base = alt.Chart(data(mine)).encode(x=seconds_axis(alt.X, "s", values, title), y=y)
        line = base.mark_line(strokeWidth=1, color="currentColor", opacity=0.4).encode(detail=alt.Detail("name:N"))
        points = [
            base.transform_filter(f"{'' if few else '!'}datum.few")
            .mark_point(filled=not few, size=70, opacity=1, strokeWidth=1.8)
            .encode(**_by_mark(), description=alt.Description("told:N"))
            for few in (False, True)
        ]
        panels.append(alt.layer(line, *points).properties(width=SIDE, height=ROW * len(names)))
    chart = alt.hconcat(*panels, spacing=24).configure_legend(orient="top")
    return charts.svg(chart, "First token, first answer token and end by arm, at the median and at 95 %")


def _by_mark() -> dict[str, Any]:
    """A shape and a colour for each of `MARKS`."""
    names, shapes = [name for name, _ in MARKS], [shape for _, shape in MARKS]
    return {
        "shape": alt.Shape("mark:N", title=None, scale=alt.Scale(domain=names, range=shapes)),
        "color": alt.Color("mark:N", title=None, scale=arm_scale(names)),
    }


def _first_rows(name: str, arm: ArmFigures) -> Iterator[Row]:
    for mark, of in zip((mark for mark, _ in MARKS), (arm.ttft, arm.ttfat, arm.service), strict=True):
        for quantile in ("p50", "p95"):
            found = getattr(of.successes, quantile)
            if found is not None and found.value_ns is not None:
                told = f"{name}: {mark}, {quantile}: {seconds(found)} s, n {found.n}"
                row = {"name": name, "mark": mark, "q": quantile, "few": found.few, "told": told}
                yield {**row, "s": s_of(found.value_ns)}


def _firsts_table(
    summary: Summary, arms: Sequence[tuple[int, ArmFigures]], *, groups: Mapping[Key, Sequence[Record]]
) -> Grid:
    rows: list[tuple[str | Cell, ...]] = []
    for place, arm in arms:
        cells: list[str | Cell] = [timed_name(summary, arm)]
        for measure, of in (("ttft", arm.ttft), ("ttfat", arm.ttfat), ("service", arm.service)):
            behind = trial_at(groups.get(_key(arm), ()), measure, 0.5, 0.95)
            cells.append(f"{of.ok} of {of.n}")
            for name, trial in zip(("p50", "p95"), behind, strict=True):
                cells.append(of_quantile(summary, f"/arms/{place}/{measure}/successes/{name}", trial=trial or ""))
        rows.append(tuple(cells))
    headers = (
        row_header(summary), "TTFT ok", "p50 s", "p95 s", "TTFAT ok", "p50 s", "p95 s", "service ok", "p50 s", "p95 s",
    )  # fmt: skip
    notes = ("of the successes; small: 95 % interval; a figure leads to the trial whose time it is", FEW_NOTE)
    return Grid("First token, first answer, end", headers, tuple(rows), (*notes, *notes_of(summary)))


def _curves(summary: Summary, spreads: Mapping[Key, Distribution]) -> Iterator[tuple[str, str]]:
    """Whole distributions: a panel a stage, or one of all stages where there is one arm only."""
    drawn = {key: of for key, of in spreads.items() if of.points}
    if not drawn:
        return
    single = len({key[:2] for key in drawn}) == 1
    groups = grouped(("" if single else key[2], key) for key in drawn)
    titles = {stage.stage: f"stage {one_line(stage.stage, LABEL)}{bound_mark(stage.client_bound)}"
              for stage in summary.stages} | {"": ""}  # fmt: skip
    shown = [
        (titles[stage], keys[begin : begin + MOST_LINES])
        for stage, keys in groups.items() for begin in range(0, len(keys), MOST_LINES)
    ]  # fmt: skip
    wide = PANEL if len(shown) > 1 else 2 * PANEL
    panels = [_panel(summary, {key: drawn[key] for key in keys}, title=title, wide=wide)
              for title, keys in shown[:MOST_PANELS]]  # fmt: skip
    caption = (
        "Share of the timed trials that had ended well by a time: a line that ends below 1 ends there because the rest "
        f"did not succeed. Exact values at no more than {POINTS} ranks a line."
    )
    left_out = len(shown) - MOST_PANELS
    more = f" {left_out} panels are left out; the table above has every stage." if left_out > 0 else ""
    chart = alt.concat(*panels, columns=1 if len(panels) == 1 else 2, spacing=28)
    chart = chart.resolve_scale(color="independent", strokeDash="independent").configure_legend(
        orient="bottom", columns=3, symbolSize=300
    )
    yield charts.svg(chart, "Distributions of latency"), f"{caption}{more}"


def _panel(summary: Summary, curves: Mapping[Key, Distribution], *, title: str, wide: int) -> alt.Chart:
    names = labels(row_labels(summary, list(curves)))
    rows: list[Row] = []
    for name, of in zip(names, curves.values(), strict=True):
        told = f"{name}: {of.ok} of {of.n} trials ended well, the slowest after {of.points[-1][0] / 1e9:.3f} s"
        rows.append({"name": name, "s": s_of(of.points[0][0]), "share": 0.0, "told": told})
        rows.extend(
            {"name": name, "s": s_of(value), "share": round(place / of.n, 5), "told": told}
            for value, place in of.points
        )  # fmt: skip
    values = [s_of(value) for of in curves.values() for value, _ in of.points]
    chart: alt.Chart = (
        alt.Chart(data(rows), title=title)
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=seconds_axis(alt.X, "s", values, "latency"),
            y=alt.Y("share:Q", title="share of trials", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5)),
            color=alt.Color("name:N", title=None, scale=arm_scale(names), sort=names),
            strokeDash=alt.StrokeDash("name:N", title=None, scale=dash_scale(names), sort=names),
            description=alt.Description("told:N"),
        )
        .properties(width=wide, height=220)
    )
    return chart
