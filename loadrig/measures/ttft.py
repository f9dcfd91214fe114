"""Trial TTFT: first token of the first turn - trial begin."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "ttft"
UNIT = "ns"


def value(record: Record) -> float | None:
    """Nanoseconds; None when the first turn generated nothing."""
    return record.trial_ttft_ns
