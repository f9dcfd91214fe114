"""Whether an answer is wrong although all that its key rests on stood before the model."""

from __future__ import annotations

from loadrig.measures.context import Context
from loadrig.words.record import Record

NAME = "reading_miss"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:  # noqa: ARG001 - as every measure of an answer
    """1 or 0; None as for `retrieval_miss`, with which it sums to 1."""
    return None if context.right is not False or context.had is None else float(context.had)
