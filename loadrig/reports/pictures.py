"""The pictures of report.md: a handful of PNGs in `pictures/` beside it, each with a text that says what it shows.

A picture that has nothing to show is not there, and one that an earlier report left is removed. Figures are the
summary's; the page, report.html, has more of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import altair as alt

from loadrig.analysis.latency import Latency
from loadrig.analysis.load import StageLoad
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.reports import charts
from loadrig.reports.html import tokens, worth
from loadrig.reports.html.drawing import ROW, Row, data, labels, rows_axis, s_of, seconds_axis
from loadrig.reports.speed import timed_name
from loadrig.reports.table import seconds

FOLDER, SCALE, MOST = "pictures", 1.5, 32
MEASURES = {"TTFT": "circle", "service": "diamond", "scheduled": "diamond"}


@dataclass(frozen=True, slots=True)
class Picture:
    """`path` from the report's folder, and what the picture shows."""

    path: str
    text: str


Drawn = tuple[alt.TopLevelMixin, str]


def write(folder: Path, summary: Summary) -> tuple[Picture, ...]:
    """Draws what there is to draw into the folder's `pictures/`."""
    return tuple(_written(folder, summary, DRAWERS))


def _written(
    folder: Path, summary: Summary, drawers: Mapping[str, Callable[[Summary], Drawn | None]]
) -> Iterator[Picture]:
    for name, draw in drawers.items():
        drawn, path = draw(summary), folder / FOLDER / f"{name}.png"
        if drawn is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(charts.png(drawn[0], scale=SCALE))
        yield Picture(f"{FOLDER}/{name}.png", drawn[1])


def latency(summary: Summary) -> Drawn | None:
    """First token and end of every arm, of the lowest load of a sweep, else of the last stage."""
    stages = [stage.stage for stage in summary.stages]
    stage = stages[0] if summary.sweep is not None else stages[-1] if stages else ""
    arms = [arm for arm in summary.arms if arm.stage == stage and _end(arm)[1].ok][:MOST]
    if not arms:
        return None
    names = labels(timed_name(summary, arm) for arm in arms)
    rows: list[Row] = [
        {"name": name, "measure": measure, "p50": s_of(p50.value_ns), "p95": s_of(p95.value_ns)}
        for name, arm in zip(names, arms, strict=True)
        for measure, of in (("TTFT", arm.ttft), _end(arm))
        if (p50 := of.successes.p50) and (p95 := of.successes.p95)
        and p50.value_ns is not None and p95.value_ns is not None
    ]  # fmt: skip
    values = [float(row[end]) for row in rows for end in ("p50", "p95")]
    domain = list(dict.fromkeys(str(row["measure"]) for row in rows))
    base = alt.Chart(data(rows)).encode(
        y=rows_axis(names),
        yOffset=alt.YOffset("measure:N", sort=domain),
        color=alt.Color("measure:N", scale=alt.Scale(domain=domain, range=list(charts.COLOURS[:2])), title=None),
    )
    line = base.mark_rule(strokeWidth=2).encode(x=seconds_axis(alt.X, "p50", values, "p50 to p95"), x2=alt.X2("p95:Q"))
    shape = alt.Shape("measure:N", scale=alt.Scale(domain=domain, range=[MEASURES[one] for one in domain]), title=None)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("p50:Q"), shape=shape)
    told = "; ".join(
        f"{name}: {_end(arm)[0]} {seconds(_end(arm)[1].successes.p50)} to {seconds(_end(arm)[1].successes.p95)} s"
        for name, arm in zip(names, arms, strict=True)
    )  # fmt: skip
    chart = alt.layer(line, dots).properties(height=1.4 * ROW * len(names))
    return chart, f"First token and end by arm in stage {stage}, p50 (mark) to p95 of the successes. {told}"


def _end(arm: ArmFigures) -> tuple[str, Latency]:
    return ("service", arm.service) if arm.scheduled is None else ("scheduled", arm.scheduled)


def cost(summary: Summary) -> Drawn | None:
    """Cost of a question against the share right."""
    if not summary.frontier.placed:
        return None
    return worth.chart(summary), f"{worth.told(summary)} {worth.caption(summary)}"


def used(summary: Summary) -> Drawn | None:
    """Tokens of a question by arm and kind."""
    chart = tokens.chart(summary)
    return None if chart is None else (chart, tokens.CAPTION)


def sweep(summary: Summary) -> Drawn | None:
    """Throughput against latency over the stages of a sweep; None of a run that is none."""
    pairs = [] if summary.sweep is None else list(zip(summary.sweep.steps, summary.stages, strict=True))
    rows: list[Row] = []
    for step, stage in pairs:
        p50, p95 = stage.service.successes.p50, stage.service.successes.p95
        known = (rate := _rate(stage)) is not None and p50 and p95 and p50.value_ns and p95.value_ns
        if known and p50 and p95 and rate is not None:
            rows += [
                {"stage": stage.stage, "load": step.load, "per_s": rate, "quantile": name, "s": s_of(of.value_ns or 0)}
                for name, of in (("p50", p50), ("p95", p95))
            ]
    if len(rows) < 4:
        return None
    base = alt.Chart(data(rows)).encode(
        x=alt.X("per_s:Q", scale=alt.Scale(zero=True), title="successes a second"),
        y=seconds_axis(alt.Y, "s", [float(row["s"]) for row in rows], "service latency"),
        color=alt.Color("quantile:N", scale=alt.Scale(range=list(charts.COLOURS[:2])), title=None),
    )
    line = base.mark_line().encode(order=alt.Order("load:Q"), strokeDash=alt.StrokeDash("quantile:N", legend=None))
    names = base.transform_filter("datum.quantile == 'p95'").mark_text(dy=-9).encode(text=alt.Text("stage:N"))
    told = ", ".join(f"{row['stage']} {row['per_s']:.2f}/s" for row in rows[::2])
    knee = summary.sweep.knee if summary.sweep else None
    said = f" The knee is at about {knee.most_per_s:.2f}/s." if knee is not None and knee.reached else ""
    chart = alt.layer(line, base.mark_point(filled=True, size=50, opacity=1), names)
    return chart, f"Service latency (p50, p95 of the successes) against throughput, stage by stage: {told}.{said}"


def _rate(stage: StageLoad) -> float | None:
    return stage.open_loop.achieved_per_s if stage.open_loop is not None else stage.trials_per_s


DRAWERS: Mapping[str, Callable[[Summary], Drawn | None]] = {
    "latency": latency, "cost": cost, "tokens": used, "sweep": sweep,
}  # fmt: skip
