"""Tool calls executed in the trial, over all its turns."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "tool_calls"
UNIT = "calls"


def value(record: Record) -> float | None:
    """Count; None when the trial was never sent."""
    return None if record.outcome == "not_run" else sum(len(turn.tool_calls) for turn in record.turns)
