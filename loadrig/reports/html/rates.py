"""How fast replies are written: time per output token, the longest silence within a reply, and both by length."""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from loadrig.analysis.latency import Spread
from loadrig.analysis.speed_by_length import GROUPS, speeds
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.bound import any_bound
from loadrig.log import RunFolder
from loadrig.reports import charts
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import (
    ROW,
    Row,
    arm_scale,
    dash_scale,
    data,
    labels,
    row_labels,
    rows_axis,
    seconds_axis,
)  # fmt: skip
from loadrig.reports.html.pieces import Cell, Grid, body, of_quantile, picture
from loadrig.reports.speed import notes_of, row_header, timed_name
from loadrig.reports.table import FEW_NOTE, bound_mark, bound_notes, label, number, seconds
from loadrig.stats import Quantile

SIDE, MOST_ARMS = 290, 7
CAPTION = (
    "Time per output token (left) and longest silence between two content events (right) of the last turn, of "
    "successes: dot at the median, circle at 95 %, beyond which fewer than 5 lie where n is below 100. A reply that "
    "came in one burst has no value."
)
BY_LENGTH = (
    f"Time per output token by length of the reply: medians of at most {GROUPS} groups of like number, by the output "
    "tokens of the last turn. A level line: an arm that writes more does not write slower."
)


def section(run: RunFolder, summary: Summary) -> Section | None:
    """None where no reply had a token rate."""
    arms = [(place, arm) for place, arm in enumerate(summary.arms) if arm.tpot.p50 is not None]
    if not arms:
        return None
    lines = _by_length(run, any_bound(stage.client_bound for stage in summary.stages))
    return Section(
        "Speed of replies",
        body(
            picture(_drawn(summary, [arm for _, arm in arms]), CAPTION, table=_table(summary, arms)),
            None if lines is None else picture(lines[0], BY_LENGTH, table=lines[1]),
        ),
    )


def _drawn(summary: Summary, arms: list[ArmFigures]) -> str:
    names = row_labels(summary, [(arm.arm, arm.model, arm.stage) for arm in arms])
    panels: list[alt.LayerChart | alt.FacetChart] = []
    for title in ("time per output token", "longest gap"):
        rows = [
            row for name, arm in zip(names, arms, strict=True)
            for row in _rows(name, arm.tpot if title.startswith("time") else arm.gap_max, title)
        ]  # fmt: skip
        if not rows:
            continue
        y = rows_axis(names) if not panels else rows_axis(names).axis(None)
        base = alt.Chart(data(rows)).encode(x=seconds_axis(alt.X, "s", [float(row["s"]) for row in rows], title), y=y)
        line = base.mark_line(strokeWidth=1, color="currentColor", opacity=0.4).encode(detail=alt.Detail("name:N"))
        median = base.transform_filter("datum.q == 'p50'").mark_point(filled=True, size=70, opacity=1)
        high = base.transform_filter("datum.q == 'p95'").mark_point(size=60, opacity=1)
        points = (
            one.encode(color=alt.ColorValue(charts.COLOURS[0]), description=alt.Description("told:N"))
            for one in (median, high)
        )
        panels.append(alt.layer(line, *points).properties(width=SIDE, height=ROW * len(names)))
    return charts.svg(alt.hconcat(*panels, spacing=24), "Time per output token and longest gap, by arm")


def _rows(name: str, of: Spread, measure: str) -> Iterator[Row]:
    for quantile, found in (("p50", of.p50), ("p95", of.p95)):
        if found is not None and found.value_ns is not None:
            told = f"{name}: {measure}, {quantile}: {seconds(found)} s, n {found.n}"
            yield {"name": name, "q": quantile, "s": round(found.value_ns / 1e9, 7), "told": told}


def _table(summary: Summary, arms: list[tuple[int, ArmFigures]]) -> Grid:
    rows: list[tuple[str | Cell, ...]] = []
    for place, arm in arms:
        of = f"/arms/{place}"
        pointers = (f"{of}/tpot/p50", f"{of}/tpot/p95", f"{of}/gap_max/p50", f"{of}/gap_max/p95")
        cells = [of_quantile(summary, pointer) for pointer in pointers]
        rows.append(
            (timed_name(summary, arm), str(arm.tpot.p50.n if arm.tpot.p50 else 0), *cells, _speed(arm.tpot.p50))
        )
    headers = (row_header(summary), "n", "TPOT p50 s", "p95 s", "longest gap p50 s", "p95 s", "tokens/s at p50")
    notes = ("n: successes whose last turn has a TPOT: no burst, more than one token, a known split of thinking",)
    return Grid(
        "Speed of replies", headers, tuple(rows), (*notes, "small: 95 % interval", FEW_NOTE, *notes_of(summary))
    )


def _speed(found: Quantile | None) -> str:
    return number(1e9 / found.value_ns if found and found.value_ns else None, 1)


def _by_length(run: RunFolder, bound: bool | None) -> tuple[str, Grid] | None:
    """The picture and its table; None where no arm has replies of several lengths."""
    found = [one for one in speeds(run) if len({of.tokens for of in one.groups}) > 1]
    if not found:
        return None
    models = list(dict.fromkeys(one.model for one in found))
    names = labels(f"{label(one.arm, one.model, models)}{bound_mark(bound)}" for one in found)
    rows = [
        {"name": name, "tokens": of.tokens, "ms": round(of.tpot_ns / 1e6, 3),
         "told": f"{name}: {of.n} replies, median {of.tokens} output tokens, {of.tpot_ns / 1e6:.2f} ms per token"}
        for name, one in zip(names, found, strict=True) for of in one.groups
    ]  # fmt: skip
    base = alt.Chart(data(row for row in rows if row["name"] in names[:MOST_ARMS])).encode(
        x=alt.X("tokens:Q", title="output tokens of the last turn", scale=alt.Scale(zero=False)),
        y=alt.Y("ms:Q", title="ms per output token", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
        color=alt.Color("name:N", title=None, sort=names, scale=arm_scale(names)),
    )
    line = base.mark_line(strokeWidth=1.6).encode(
        strokeDash=alt.StrokeDash("name:N", title=None, sort=names, scale=dash_scale(names))
    )
    chart = alt.layer(
        line, base.mark_point(filled=True, size=40, opacity=1).encode(description=alt.Description("told:N"))
    )
    chart = chart.properties(width=640, height=220).configure_legend(orient="bottom", columns=3, symbolSize=100)
    cells = tuple(
        (name, str(of.n), f"{of.tokens:,}", f"{of.tpot_ns / 1e6:.2f}")
        for name, one in zip(names, found, strict=True) for of in one.groups
    )  # fmt: skip
    headers = ("arm", "replies", "output tokens, median", "ms per token, median")
    table = Grid("Speed by length", headers, cells, bound_notes(bound))
    return charts.svg(chart, "Time per output token by length of the reply"), table
