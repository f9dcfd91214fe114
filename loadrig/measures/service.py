"""Service latency: trial end - trial begin."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "service"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; None when the trial was never sent."""
    return record.service_ns
