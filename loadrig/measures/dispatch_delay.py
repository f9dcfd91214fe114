"""Dispatch delay: trial begin - the instant at which it was due. Open loop only."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "dispatch_delay"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; None in closed loop and for a trial that was never sent."""
    return record.dispatch_delay_ns
