"""How a document or a passage of one stands in a prompt: between tags that its own text cannot close.

Rules: attributes are escaped as in XML; inside the text only our own two delimiters are defused, so that every
other character reaches the model unchanged. Date and title are left out when unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from loadrig.words.arm import Unit, View
from loadrig.words.corpus import Chunk, Corpus, Document, Hit

TAG_TOKENS = 25  # of tags with id, date and title: an estimate used before a run only
_DELIMITER = re.compile(r"<(/?document)", re.IGNORECASE)


def whole(document: Document, *, identified: bool = True) -> str:
    """The document between tags with its id, date and title; without the three when not `identified`."""
    return _tagged(document, document.text) if identified else f"<document>\n{defused(document.text)}\n</document>"


def passage(document: Document, chunk: Chunk) -> str:
    """One chunk between tags, with its number in the document."""
    return _tagged(document, chunk.text, passage=str(chunk.number))


def of_hits(view: View, hits: Iterable[Hit]) -> str:
    """The texts behind the hits, in the order given, a blank line between two."""
    return "\n\n".join(
        whole(view.documents[hit.doc])
        if hit.chunk is None
        else passage(view.documents[hit.doc], view.chunks[hit.chunk])
        for hit in hits
    )


def tokens_of_hits(corpus: Corpus, k: int, unit: Unit) -> int:
    """Estimated tokens of `k` pieces of mean size between their tags, or of all where there are not so many."""
    pieces = corpus.chunks if unit == "chunk" else corpus.documents
    mean = sum(piece.tokens for piece in pieces) / max(1, len(pieces))
    return round(min(k, len(pieces)) * (mean + TAG_TOKENS))


def in_document_order(view: View, hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits as their texts stand in the corpus: documents by date (undated last) and id, then by place."""

    def place(hit: Hit) -> tuple[bool, str, str, int]:
        document = view.documents[hit.doc]
        number = -1 if hit.chunk is None else view.chunks[hit.chunk].number
        return document.date is None, document.date or "", document.id, number

    return tuple(sorted(hits, key=place))


def _tagged(document: Document, text: str, **more: str) -> str:
    attributes = {"id": document.id, "date": document.date, "title": document.title, **more}
    head = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items() if value is not None)
    return f"<document{head}>\n{defused(text)}\n</document>"


def defused(text: str) -> str:
    """Text in which our own delimiters open and close nothing."""
    return _DELIMITER.sub(r"&lt;\1", text)
