"""Whether a wrong answer is told as if it were known and cites a document that exists: nothing on it looks wrong."""

from __future__ import annotations

from loadrig.measures import silent
from loadrig.measures.citing import named_documents
from loadrig.measures.context import Context
from loadrig.words.record import Record

NAME = "silent_cited"
UNIT = "answers"


def value(record: Record, context: Context) -> float | None:
    """1 or 0; None as for `silent`, or when the corpus' facts are not on file."""
    found = silent.value(record, context)
    if found is None or context.known is None:
        return None
    return float(found == 1.0 and any(named.document is not None for named in named_documents(record, context)))
