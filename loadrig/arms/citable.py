"""A document or a passage of one as a block that a model can cite, in place of text between tags (`passages`).

Rules: `source` is the document's id; date and passage stand behind the title, because a block has no other place for
them. The pieces are paragraphs: the smallest thing that a citation can point to. Nothing needs to be defused, since a
block's text ends where its JSON string does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from loadrig.words.arm import View
from loadrig.words.corpus import Document, Hit
from loadrig.words.prompt import SearchResult

_BETWEEN = re.compile(r"\n\s*\n")


def whole(document: Document) -> SearchResult:
    """The document as one block."""
    return SearchResult(document.id, _title(document), pieces(document.text))


def of_hits(view: View, hits: Iterable[Hit]) -> tuple[SearchResult, ...]:
    """The texts behind the hits, a block each, in the order given."""
    return tuple(_of_hit(view, hit) for hit in hits)


def pieces(text: str) -> tuple[str, ...]:
    """The paragraphs of a text; of one that is blank, the text."""
    found = (piece.strip("\n") for piece in _BETWEEN.split(text))
    return tuple(piece for piece in found if piece.strip()) or (text,)


def _of_hit(view: View, hit: Hit) -> SearchResult:
    document = view.documents[hit.doc]
    if hit.chunk is None:
        return whole(document)
    chunk = view.chunks[hit.chunk]
    return SearchResult(document.id, f"{_title(document)}, passage {chunk.number}", pieces(chunk.text))


def _title(document: Document) -> str:
    title = document.title or document.id
    return title if document.date is None else f"{title} ({document.date})"
