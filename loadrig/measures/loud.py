"""Whether what is not right shows itself: the model refused, or the answer says that it cannot be given."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.measures.declining import declines
from loadrig.words.record import Record

NAME = "loud"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0; None for what is right or was not graded, and for what no model said (errors, empty, cut short)."""
    if record.reason == "refused":
        return 1.0
    return None if context.right is not False or not answered(record) else float(declines(record.answer))
