"""TPOT of the last turn: (last - first visible token) / (visible output tokens - 1), as the turn recorded it."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "tpot"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds a token; None for one token, a burst, or an unknown split of thinking."""
    return record.turns[-1].tpot_ns if record.turns else None
