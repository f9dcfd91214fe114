"""Whether what is not right does not show itself: a wrong answer, told as if it were known."""

from __future__ import annotations

from loadrig.measures import loud
from loadrig.measures.context import Context
from loadrig.words.record import Record

NAME = "silent"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0; None as for `loud`, with which it sums to 1."""
    found = loud.value(record, context)
    return None if found is None else 1.0 - found
