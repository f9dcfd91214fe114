"""What a picture was drawn from: the rows of a chart's data, whatever form they are kept in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import altair as alt


def rows_of(chart: alt.TopLevelMixin) -> list[dict[str, Any]]:
    """All rows of all data of the chart."""
    return [dict(row) for row in _rows(chart.to_dict().get("datasets", {}))]


def _rows(value: Any) -> Iterator[Any]:
    for held in value.values():
        yield from json.loads(held) if isinstance(held, str) else held
