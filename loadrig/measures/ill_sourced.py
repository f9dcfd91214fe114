"""Whether the answer's provenance fails: a fabricated or misplaced date, a fabricated id, a wrong claim of recency."""

from __future__ import annotations

from loadrig.measures import dates_fabricated, dates_misplaced, ids_fabricated, recency_wrong
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "ill_sourced"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0, whatever the answer says of the matter; None without an answer or the corpus' facts."""
    if context.known is None or not answered(record):
        return None
    faults = (m.value(record, context) for m in (dates_fabricated, dates_misplaced, ids_fabricated, recency_wrong))
    return float(any(faults))
