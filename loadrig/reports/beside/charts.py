"""Pictures of several runs laid over one another: a run has a colour and a shape, an arm a row or a name."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.reports.beside.figures import Figure
from loadrig.reports.charts import COLOURS, SHAPES
from loadrig.reports.html.drawing import ROW, data, labels, rows_axis, s_of, seconds_axis
from loadrig.reports.table import amount, label

MOST = 30  # rows of arms
Drawn = tuple[alt.TopLevelMixin, str]


def latency(figures: Sequence[Figure], runs: Sequence[str]) -> Drawn | None:
    """Service latency from p50 to p95, an arm and stage a row, a run a line in it."""
    found = {figure.name: figure for figure in figures}
    low, high = found.get("service latency p50"), found.get("service latency p95")
    if low is None or high is None:
        return None
    models = {row.model for row in low.rows}
    several = len({row.stage for row in low.rows}) > 1
    names = labels(
        f"{label(row.arm, row.model, list(models))}{f', {row.stage}' if several else ''}" for row in low.rows[:MOST]
    )
    rows = [
        {"name": name, "run": runs[place], "p50": s_of(float(a.number)), "p95": s_of(float(b.number)),
         "told": f"{name}, {runs[place]}: {a.text} to {b.text} s"}
        for name, first, last in zip(names, low.rows, high.rows, strict=False)
        for place, (a, b) in enumerate(zip(first.values, last.values, strict=True))
        if a is not None and b is not None and a.number is not None and b.number is not None
    ]  # fmt: skip
    values = [float(str(row[end])) for row in rows for end in ("p50", "p95")]
    base = alt.Chart(data(rows)).encode(
        y=rows_axis(names),
        yOffset=alt.YOffset("run:N", sort=list(runs)),
        color=_colour(runs),
        description=alt.Description("told:N"),
    )
    line = base.mark_rule(strokeWidth=2).encode(
        x=seconds_axis(alt.X, "p50", values, "service latency"), x2=alt.X2("p95:Q")
    )
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("p50:Q"), shape=_shape(runs))
    left = f" The first {MOST} of {len(low.rows)} rows." if len(low.rows) > MOST else ""
    chart = alt.layer(line, dots).properties(height=max(ROW, 12 * len(runs)) * len(names))
    return chart, f"Service latency of the successes by arm and run, from p50 (mark) to p95.{left}"


def cost(summaries: Sequence[Summary], runs: Sequence[str]) -> Drawn | None:
    """Cost of a question against the share right, the arms of all runs; None where currencies differ."""
    if len({summary.currency for summary in summaries}) > 1:
        return None
    rows = [
        {"run": run, "arm": name, "cost": one.cost, "right": one.right.share,
         "told": f"{name}, {run}: {amount(f'{one.cost:.12f}')}, right {one.right.k}/{one.right.n}"}
        for run, summary in zip(runs, summaries, strict=True)
        for one in summary.frontier.placed
        for name in [label(one.arm, one.model, sorted({of.model for of in summary.frontier.placed}))]
    ]  # fmt: skip
    if not rows:
        return None
    y = alt.Y("right:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="right of asked")
    x = alt.X("cost:Q", scale=alt.Scale(zero=True), title=f"{summaries[0].currency or 'cost'} a question")
    base = alt.Chart(data(rows)).encode(x=x, y=y, description=alt.Description("told:N"))
    dots = base.mark_point(filled=True, size=80, opacity=0.9).encode(color=_colour(runs), shape=_shape(runs))
    lines = base.mark_line(strokeDash=[2, 2], opacity=0.5, color=COLOURS[5]).encode(detail=alt.Detail("arm:N"))
    names = (
        base.transform_filter(alt.datum.run == runs[0])
        .mark_text(align="left", dx=8, dy=-6)
        .encode(text=alt.Text("arm:N"))
    )
    text = "Cost of a question against the share right; a dotted line joins an arm's places in the runs."
    return alt.layer(lines, dots, names).properties(height=280), text


def _colour(runs: Sequence[str]) -> alt.Color:
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(runs))]
    return alt.Color("run:N", scale=alt.Scale(domain=list(runs), range=colours), title=None)


def _shape(runs: Sequence[str]) -> alt.Shape:
    shapes = [SHAPES[place % len(SHAPES)] for place in range(len(runs))]
    return alt.Shape("run:N", scale=alt.Scale(domain=list(runs), range=shapes), title=None)
