"""Scheduled latency: trial end - the instant at which it was due. Open loop only: waiting to be sent is in it."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "scheduled"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; of a trial given up unsent how long it had waited; None in closed loop."""
    return record.scheduled_ns
