"""What one caller may see of a corpus, with look-up tables; made once a caller, shared by all his trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from loadrig.words.corpus import Chunk, Corpus, Document, sees


@dataclass(frozen=True, slots=True, eq=False)
class CallerView:
    """A corpus cut down to the caller's labels. Compared and hashed by identity, so it can key a cache cheaply."""

    corpus: Corpus
    documents: Mapping[str, Document]
    chunks: Mapping[str, Chunk]


def view_of(corpus: Corpus, caller: tuple[str, ...]) -> CallerView:
    """The view of a caller with these labels."""
    seen = tuple(document for document in corpus.documents if sees(caller, document.access))
    ids = {document.id for document in seen}
    chunks = tuple(chunk for chunk in corpus.chunks if chunk.document in ids)
    visible = corpus if len(seen) == len(corpus.documents) else replace(corpus, documents=seen, chunks=chunks)
    return CallerView(visible, {document.id: document for document in seen}, {chunk.id: chunk for chunk in chunks})
