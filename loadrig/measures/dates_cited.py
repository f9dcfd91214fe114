"""Dates that the answer cites, each as often as it is written; those in a document's id are left out."""

from __future__ import annotations

from loadrig.measures.citing import cited_dates
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "dates_cited"
UNIT = "dates"


def value(record: Record, context: Context) -> float | None:
    """Count; None without an answer, or when the corpus' facts are not on file."""
    if context.known is None or not answered(record):
        return None
    return len(cited_dates(record.answer, context.known))
