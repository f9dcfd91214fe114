"""Turns: model calls of the trial."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "turns"
UNIT = "turns"


def value(record: Record) -> float | None:
    """Count; None when the trial was never sent."""
    return None if record.outcome == "not_run" else len(record.turns)
