"""Whether the answer opens with the reference's opposite, yes or no, and then states all that the key demands."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "opening"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0: a grader has to read it; None without an answer, or when the key demands nothing."""
    if context.complete is None or not answered(record):
        return None
    return float(context.against and context.complete)
