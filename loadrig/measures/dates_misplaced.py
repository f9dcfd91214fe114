"""Dates of the answer that the corpus holds, but none of the documents cited in the same sentence does."""

from __future__ import annotations

from loadrig.measures.citing import misplaced_dates
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "dates_misplaced"
UNIT = "dates"


def value(record: Record, context: Context) -> float | None:
    """Count of (document, date) pairs; None without an answer, or when the corpus' facts are not on file."""
    if context.known is None or not answered(record):
        return None
    return len(misplaced_dates(record.answer, context.key, context.known))
