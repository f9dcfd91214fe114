"""Claims of the answer that a certain document is the most recent one; a lower bound."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.measures.recency import recency_claims
from loadrig.words.record import Record

NAME = "recency_claims"
UNIT = "claims"


def value(record: Record, context: Context) -> float | None:
    """Count; None without an answer, or when no document's true date is known."""
    if context.known is None or not context.known.newest or not answered(record):
        return None
    return len(recency_claims(record.answer, context.key, context.known))
