"""How a run was made, as its manifest says: versions, seeds, hashes, the command line, prices, the plan as resolved.

Every key of the manifest is shown but for those that a section of their own shows; nothing is interpreted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loadrig.log import RunFolder
from loadrig.reports.html.pieces import Grid
from loadrig.reports.table import one_line

ELSEWHERE = ("self_measurement", "stamps", "warnings", "plan", "sweep")
MOST = 400  # characters of a value
ROWS = 2000


def grids(run: RunFolder) -> tuple[Grid, Grid]:
    """What was fixed beside the plan, and the plan as it was resolved."""
    manifest = {name: value for name, value in run.manifest.items() if name not in ELSEWHERE}
    return (
        Grid("How it was made", ("what", "value"), tuple(_rows(manifest)), words=True),
        Grid("The plan as resolved", ("key", "value"), tuple(_rows(run.manifest.get("plan") or {})), words=True),
    )


def _rows(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = [(one_line(name, MOST), one_line(text, MOST)) for name, text in flat(value)]
    return [*found[:ROWS], *([("...", f"{len(found) - ROWS} more in manifest.json")] if len(found) > ROWS else [])]


def flat(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Each value of foreign JSON under its dotted name; lists of plain values on one line.

    >>> list(flat({"a": {"b": 1}, "c": ["x", "y"], "d": None}))
    [('a.b', '1'), ('c', 'x y')]
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if any(isinstance(inner, Mapping | list) for inner in value):
            for place, inner in enumerate(value, start=1):
                yield from flat(inner, f"{name}.{place}")
        elif value:
            yield name, " ".join(map(str, value))
    elif value is not None:
        yield name, str(value)
