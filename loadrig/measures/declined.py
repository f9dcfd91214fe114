"""Whether the answer says, in its first sentence, that it cannot be given, or the model refused."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.measures.declining import declines
from loadrig.words.record import Record

NAME = "declined"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:  # noqa: ARG001 - as every measure of an answer
    """1 or 0; None when neither answered nor refused."""
    if record.reason == "refused":
        return 1.0
    return float(declines(record.answer)) if answered(record) else None
