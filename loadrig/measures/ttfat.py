"""TTFAT: first answer token - trial begin, with retrieval, tools, earlier turns and back-off in it."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "ttfat"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; None when the trial ended without answer text."""
    return record.ttfat_ns
