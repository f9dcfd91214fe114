"""What a trial sent from the corpus: the documents and passages in its prompts, by their ids.

Rules: a document is what stands between our tags, or a search result with its pieces, whatever the dialect around it.
What an assistant's message says was not sent from any document, even where it looks like one. A conversation is
append-only, so a prompt whose messages a later one begins with is not looked at. Texts are as they were sent: our two
delimiters inside a document's own text are still defused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

import msgspec

from loadrig.arms.passages import whole
from loadrig.words.corpus import Document
from loadrig.words.record import Record

_OPEN, _CLOSE = "<document", "</document>"
_ID = re.compile(r"\sid=(?:\"([^\"]*)\"|'([^']*)')")

Documents = Mapping[str, tuple[str, ...]]
"""The texts sent from a document, by its id; under the empty id those of documents that were sent without one."""


def prompts_of(record: Record) -> tuple[tuple[str, ...], ...]:
    """The hashes of each prompt of a trial that no later one begins with."""
    kept: list[tuple[str, ...]] = []
    for turn in record.turns:
        if kept and kept[-1][:-1] == turn.prompt[: len(kept[-1]) - 1]:
            kept.pop()
        if turn.prompt:
            kept.append(turn.prompt)
    return tuple(kept)


def documents_in(prompt: tuple[str, ...], prompts: Mapping[str, bytes]) -> Documents | None:
    """The documents of one prompt, given as the hashes of its fragments; None when one of them is not on file."""
    if any(fragment not in prompts for fragment in prompt):
        return None
    found: dict[str, list[str]] = {}
    for name, text in _found(msgspec.json.decode(b"".join(prompts[fragment] for fragment in prompt))):
        found.setdefault(name, []).append(text)
    return {name: tuple(texts) for name, texts in found.items()}


def between_tags(result: Mapping[str, Any]) -> str:
    """A search result as the same text would stand between tags."""
    return whole(Document(_text(result.get("source")), "\n\n".join(_pieces(result)), 0, _text(result.get("title"))))


def _found(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield from _tagged(value)
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner)
    elif isinstance(value, dict) and value.get("type") == "search_result":
        source, pieces = _text(value.get("source")), _pieces(value)
        yield source, "\n".join(pieces)
        if len(pieces) > 1:
            yield source, "".join(pieces)  # an endpoint may put nothing between the pieces that it cites
    elif isinstance(value, dict) and value.get("role") != "assistant":
        for inner in value.values():
            yield from _found(inner)


def _tagged(text: str) -> Iterator[tuple[str, str]]:
    """Found by search, not by pattern: a prompt may hold a whole corpus."""
    at = text.find(_OPEN)
    while at >= 0:
        begin = text.find(">", at)
        end = text.find(_CLOSE, begin)
        if begin < 0 or end < 0:
            return
        if text[at + len(_OPEN)] in " >":
            yield _id(text[at:begin]), text[begin + 1 : end]
        at = text.find(_OPEN, end)


def _id(head: str) -> str:
    found = _ID.search(head)
    return "" if found is None else unescape(found[1] if found[1] is not None else found[2])


def _pieces(result: Mapping[str, Any]) -> list[str]:
    content = result.get("content")
    return [_text(piece.get("text")) for piece in content or () if isinstance(piece, dict)]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
