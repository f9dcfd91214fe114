"""Longest gap between two consecutive content events of one turn, over the trial's turns."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "gap_max"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; None when no turn has gaps. First-token time is never a gap."""
    return max((turn.gaps.max_ns for turn in record.turns if turn.gaps is not None), default=None)
