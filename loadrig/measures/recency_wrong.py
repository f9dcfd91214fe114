"""Claims that a certain document is the most recent one, where the true dates say otherwise; a lower bound."""

from __future__ import annotations

from loadrig.measures.context import Context, answered
from loadrig.measures.recency import recency_claims
from loadrig.words.record import Record

NAME = "recency_wrong"
UNIT = "claims"


def value(record: Record, context: Context) -> float | None:
    """Count; None without an answer, or when no document's true date is known."""
    if context.known is None or not context.known.newest or not answered(record):
        return None
    return sum(not claim.true for claim in recency_claims(record.answer, context.key, context.known))
