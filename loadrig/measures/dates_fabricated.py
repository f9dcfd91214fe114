"""Dates of the answer that neither the corpus nor the key holds: fabricated / `dates_cited` is the share."""

from __future__ import annotations

from loadrig.measures.citing import fabricated_dates
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "dates_fabricated"
UNIT = "dates"


def value(record: Record, context: Context) -> float | None:
    """Count; None without an answer, or when the corpus' facts are not on file."""
    if context.known is None or not answered(record):
        return None
    return len(fabricated_dates(record.answer, context.key, context.known))
