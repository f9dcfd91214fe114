"""Whether an answer is wrong and something that its key rests on never stood before the model."""

from __future__ import annotations

from loadrig.measures.context import Context
from loadrig.words.record import Record

NAME = "retrieval_miss"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:  # noqa: ARG001 - as every measure of an answer
    """1 or 0; None for what is right, was not graded or not answered, and for a key that names neither quotes nor gold.
    A quote missing is no proof that nothing else said the same: an upper bound."""
    return None if context.right is not False or context.had is None else float(not context.had)
