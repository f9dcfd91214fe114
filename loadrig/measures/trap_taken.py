"""Whether a question that assumes what does not exist (category `negative_trap`) is answered as if it did."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.measures.declining import declines
from loadrig.words.record import Record

NAME = "trap_taken"
UNIT = "answers"
TRAP = "negative_trap"


def value(record: Record, context: Context) -> float | None:
    """1: the answer has not what the key demands and does not decline either; None for other questions, and for those
    that were not answered. A clumsy denial in words that the key does not know counts too: a grader has to read it."""
    if context.question.category != TRAP or context.complete is None or not answered(record):
        return None
    return float(not context.complete and not declines(record.answer))
