"""Whether the answer says what must not be said, or yes where the reference says no, by the automatic mark."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "invented"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0; None without an answer, or when the key has nothing to tell it by."""
    return None if context.invented is None or not answered(record) else float(context.invented)
