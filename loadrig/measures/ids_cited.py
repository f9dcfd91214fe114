"""Documents that the answer names by id or by number, each as often as it is named."""

from __future__ import annotations

from loadrig.measures.citing import named_documents
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "ids_cited"
UNIT = "names"


def value(record: Record, context: Context) -> float | None:
    """Count, those that do not exist included; None without an answer, or when the corpus' facts are not on file."""
    if context.known is None or not answered(record):
        return None
    return len(named_documents(record, context))
