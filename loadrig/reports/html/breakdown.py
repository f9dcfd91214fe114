"""Where the time of a trial goes: the mean service latency of an arm, in parts that sum to it."""

from __future__ import annotations

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.analysis.timing import PARTS, ArmTimes
from loadrig.log import RunFolder
from loadrig.reports import charts
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import NUMBER, ROW, Row, data, row_labels, rows_axis, s_of
from loadrig.reports.html.pieces import Cell, Grid, body, of_number, picture
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, bound_mark, bound_notes, label

SENT_LATE = "sent late"
WIDE = 600
SHOWN = (SENT_LATE, *PARTS)
# One hue a kind of time: the search in blues, the model in orange and green, what is lost in greys and vermilion.
HUES = ("#5f5f5f", "#0072b2", "#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#f0e442", "#a8a8a8")
CAPTION = (
    "Mean of the timed successes. The parts from searching to rest sum to the service latency; where trials have due "
    "times, how late they were sent comes before it, and the whole bar is the scheduled latency."
)
NOTES = (
    "milliseconds, means over n timed successes; whole: service latency, the sum of the parts but for rounding",
    "to first tokens, replies: the attempt that gave the reply, of every turn, before and from its first token; failed "
    "attempts: those before it; back-off: pauses before attempts and waits for leave; rest: all else, the rig's own",
)


def section(_run: RunFolder, summary: Summary) -> Section | None:
    """None where nothing succeeded."""
    if not any(times.n for times in summary.times):
        return None
    return Section("Where the time goes", body(picture(_drawn(summary), CAPTION, table=_table(summary))))


def _drawn(summary: Summary) -> str:
    names = row_labels(summary, [(times.arm, times.model, times.stage) for times in summary.times])
    rows = [row for name, times in zip(names, summary.times, strict=True) for row in _rows(name, times)]
    used = [part for part in SHOWN if any(row["part"] == part for row in rows)]
    hues = [HUES[SHOWN.index(part)] for part in used]
    colour = alt.Color("part:N", title=None, sort=used, scale=alt.Scale(domain=used, range=hues))
    chart = (
        alt.Chart(data(rows))
        .mark_bar(size=14)
        .encode(
            x=alt.X("begin:Q", title="mean, s", axis=alt.Axis(tickCount=6, format=NUMBER)),
            x2=alt.X2("end:Q"),
            y=rows_axis(names),
            color=colour,
            description=alt.Description("told:N"),
        )
        .properties(width=WIDE, height=ROW * len(names))
        .configure_legend(orient="top", columns=4)
    )
    return charts.svg(chart, "Mean time of a trial in parts, by arm")


def _rows(name: str, times: ArmTimes) -> list[Row]:
    late = [] if times.sent_late_ns is None else [(SENT_LATE, times.sent_late_ns / times.n)]
    parts = [*late, *((part.name, part.total_ns / times.n) for part in times.parts)]
    rows: list[Row] = []
    begin = 0.0
    for part, mean_ns in parts:
        if mean_ns > 0:
            told = f"{name}: {part}, {mean_ns / 1e6:.1f} ms of {times.service_ns / times.n / 1e6:.1f} ms service"
            rows.append({"name": name, "part": part, "begin": s_of(begin), "end": s_of(begin + mean_ns), "told": told})
            begin += mean_ns
    return rows


def _table(summary: Summary) -> Grid:
    models, several = models_of(summary), len(summary.stages) > 1
    bound = {stage.stage: stage.client_bound for stage in summary.stages}
    rows: list[tuple[str | Cell, ...]] = []
    for place, times in enumerate(summary.times):
        name = label(times.arm, times.model, models) + (f", {times.stage}" if several else "")
        late = NONE if times.sent_late_ns is None else f"{times.sent_late_ns / times.n / 1e6:.1f}"
        parts = (_milliseconds(part.mean_ns, f"/times/{place}/parts/{number}/mean_ns")
                 for number, part in enumerate(times.parts))  # fmt: skip
        whole = Cell(f"{times.service_ns / times.n / 1e6:.1f}", f"/times/{place}/service_ns", str(times.service_ns),
                     title=f"sum over {times.n} trials: {times.service_ns} ns")  # fmt: skip
        n = of_number(summary, f"/times/{place}/n")
        rows.append((f"{name}{bound_mark(bound.get(times.stage))}", n, late, *parts, whole))
    headers = ("arm, stage" if several else "arm", "n", SENT_LATE, *PARTS, "whole")
    return Grid("Where the time goes", headers, tuple(rows), (*NOTES, *bound_notes(*bound.values())))


def _milliseconds(value_ns: int, pointer: str) -> Cell:
    return Cell(f"{value_ns / 1e6:.1f}", pointer, str(value_ns), title=f"{value_ns} ns")
