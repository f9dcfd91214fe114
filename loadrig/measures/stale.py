"""Whether a superseded value stands in an answer without the current one, by the automatic mark."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "stale"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0; None without an answer, or for a question that nothing superseded."""
    return None if context.stale is None or not answered(record) else float(context.stale)
