"""Spans that an answer quotes, in the form that the instructions ask for: `<quote document="ID">words</quote>`. Pure.

Rules: what is not closed, as where an answer was cut off, is no quote. The answer is what is left without the quotes,
because what a document says is not what the answer says: a required word in a quote alone must not make it right. An
answer that consists of quotes and nothing else stays as it is. Whether a span was sent is not known here.
"""

from __future__ import annotations

import re
from html import unescape

import msgspec

from loadrig.words.arm import Answer
from loadrig.words.corpus import Hit
from loadrig.words.prompt import Citation, Reply

_QUOTE = re.compile(r"<quote\b([^<>]*)>((?:(?!<quote\b).)*?)</quote\s*>", re.DOTALL | re.IGNORECASE)
_SOURCE = re.compile(r"\bdocument\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_MARK_ALONE = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]*")


def parted(text: str) -> tuple[str, tuple[Citation, ...]]:
    """The answer without its quotes, and the quotes in order."""
    found = tuple(Citation(quote[2].strip(), _source(quote[1])) for quote in _QUOTE.finditer(text))
    if not found:
        return text, ()
    lines = _QUOTE.sub("", text).splitlines()
    left = "\n".join(line.rstrip() for line in lines if not _MARK_ALONE.fullmatch(line)).strip()
    return left or text, found


def answer_of(reply: Reply, *, quoted: bool, retrieved: tuple[Hit, ...] = ()) -> Answer:
    """The answer with the spans it rests on: those the endpoint gave and, where they were asked for, those quoted."""
    text, found = parted(reply.text) if quoted else (reply.text, ())
    plain = msgspec.structs.replace(reply, text=text) if found else reply
    return Answer(plain, retrieved=retrieved, citations=(*reply.citations, *found))


def _source(attributes: str) -> str | None:
    found = _SOURCE.search(attributes)
    return None if found is None else unescape(found[1] if found[1] is not None else found[2]).strip() or None
