"""What the pictures of latency share: an arm a row, arms told apart by colour and dash, axes of seconds.

A name becomes a label of one line and limited length, so that it can neither stretch a picture nor hide in it; labels
that become alike are numbered. A client-bound stage carries its mark in the label. An axis is logarithmic where values
lie more than thirty-fold apart, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from loadrig.analysis.summary import Summary
from loadrig.reports.charts import COLOURS, DASHES, FAILED, legible
from loadrig.reports.table import bound_mark, label, one_line

LABEL = 28  # characters
FAR_APART = 30
NUMBER = ",.6~f"  # how an axis writes numbers: 0.25, 10, 1,200
ROW, CHARACTER = 24, 7.3  # pixels
Row = Mapping[str, Any]


def data(rows: Iterable[Row]) -> alt.InlineData:
    """Rows for a chart: as a text, for Altair copies what a chart holds with every change to it."""
    clean = [{name: legible(of) if isinstance(of, str) else of for name, of in row.items()} for row in rows]
    values = json.dumps(clean, ensure_ascii=False)
    return alt.InlineData(values=values, format={"type": "json"})


def labels(names: Iterable[str]) -> list[str]:
    """Each name as a label, no two alike.

    >>> labels(["rag", "rag", "x" * 40])
    ['rag', 'rag (2)', 'xxxxxxxxxxxxxxxxxxxxxxxxxxx…']
    """
    found: list[str] = []
    for name in names:
        short = one_line(name, LABEL) or "(no name)"
        number = sum(one == short or one.startswith(f"{short} (") for one in found)
        found.append(f"{short} ({number + 1})" if number else short)
    return found


def row_labels(summary: Summary, keys: Sequence[tuple[str, str, str]]) -> list[str]:
    """A label for each arm, model and stage: what they have in common is left out, a client-bound stage is marked."""
    models = list(dict.fromkeys(model for _, model, _ in keys))
    bound = {stage.stage: bound_mark(stage.client_bound) for stage in summary.stages}
    several = len({stage for _, _, stage in keys}) > 1
    return labels(
        f"{label(arm, model, models)}{f', {stage}' if several else ''}{bound.get(stage, '')}"
        for arm, model, stage in keys
    )


def arm_scale(names: Sequence[str]) -> alt.Scale:
    """A colour for each name."""
    return alt.Scale(domain=list(names), range=[COLOURS[place % len(COLOURS)] for place in range(len(names))])


def dash_scale(names: Sequence[str]) -> alt.Scale:
    """A dash for each name."""
    return alt.Scale(domain=list(names), range=[list(DASHES[place % len(DASHES)]) for place in range(len(names))])


def rows_axis(names: Sequence[str], title: str | None = None) -> alt.Y:
    """An arm a row, in the order given."""
    extent = min(200, round(CHARACTER * max(map(len, names), default=0)))  # a browser's letters may be wider
    axis = alt.Axis(title=title, domain=False, ticks=False, grid=False, minExtent=extent)
    return alt.Y("name:N", sort=list(names), scale=alt.Scale(domain=list(names)), axis=axis)


def seconds_axis(channel: type[alt.X] | type[alt.Y], field: str, values: Sequence[float], title: str) -> Any:
    """An axis of seconds from 0 on; logarithmic where the values lie far apart."""
    known = [value for value in values if value > 0]
    far = bool(known) and max(known) / min(known) > FAR_APART
    scale = alt.Scale(type="log", nice=True) if far else alt.Scale(zero=True, nice=True)
    axis = alt.Axis(tickCount=5, format=NUMBER)
    return channel(f"{field}:Q", scale=scale, axis=axis).title(f"{title}, s{' (logarithmic)' if far else ''}")


def s_of(value_ns: float) -> float:
    """Seconds for an axis, to the microsecond."""
    return round(value_ns / 1e9, 6)


def failure_mark(size: float = 40) -> dict[str, Any]:
    """How failures look: a cross, in a colour that nothing else has."""
    return {"shape": "M-1,-1L1,1M1,-1L-1,1", "size": size, "color": FAILED, "strokeWidth": 1.8, "opacity": 1}
