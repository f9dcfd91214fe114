"""Ids and numbers of documents, or of what the corpus numbers, in the answer that do not exist."""

from __future__ import annotations

from loadrig.measures.citing import named_documents
from loadrig.measures.context import Context, answered
from loadrig.words.record import Record

NAME = "ids_fabricated"
UNIT = "names"


def value(record: Record, context: Context) -> float | None:
    """Count; None without an answer, or when the corpus' facts are not on file."""
    if context.known is None or not answered(record):
        return None
    return sum(named.document is None for named in named_documents(record, context))
