"""Documents as they stand in a prompt, cut into statements: sentences, list items, `key: value` lines, table rows.

A document is text between `<document ...>` tags; other long text counts as a document without an id. Parsing is
remembered by text, so that a corpus sent with every request is cut up once.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache

from loadrig.simulator.vocabulary import TOKEN, stems, stems_of

_DOCUMENT = re.compile(r"<document\b((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>\n?(.*?)\n?</document>", re.DOTALL)
_ATTRIBUTE = re.compile(r"([\w-]+)=(?:\"([^\"]*)\"|'([^']*)')")
_ITEM = re.compile(r"^\s*(?:[-*+\u2022]|\(?\d{1,3}[.)]|#\.)\s+")
_KEYED = re.compile(r"^\s*\**[A-Z][\w -]{0,24}\**:\**\s+\S")
_UNDERLINE = re.compile(r"^\s*([=\-~^\"'*#+.`])\1{2,}\s*$")
_HEADING = re.compile(r"^\s*#{1,6}\s+(.*\S)")
_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[Nn]o\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\b[DM]r\.)(?<!\b[A-Z]\.)(?<!\.[a-z]\.)"
    r"[\"')\]]?\s+(?=[\"'(\[`*\u201c]?[A-Z0-9])"
)
MOST_WORDS = 90


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing a document says. `context` are the stems of its heading; `record` marks the `key: value` lines
    that open a document."""

    place: int
    text: str
    stems: frozenset[str]
    context: frozenset[str]
    words: int
    record: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document's statements and where each stem occurs among them."""

    statements: tuple[Statement, ...]
    postings: dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Result:
    """A search result that can be cited: its number among those of the request, its title and its pieces."""

    index: int
    title: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A document or a passage of one as the prompt gives it; `order` is its place in the prompt."""

    order: int
    id: str | None
    date: str | None
    title: str | None
    parsed: Parsed
    result: Result | None = None


def find_documents(text: str) -> list[tuple[dict[str, str], str]]:
    """(attributes, text) of every tagged document in a text block, in order."""
    if "<document" not in text:
        return []
    return [
        (_attributes(match[1]), match[2].replace("&lt;document", "<document").replace("&lt;/document", "</document"))
        for match in _DOCUMENT.finditer(text)
    ]


def outside_documents(text: str) -> str:
    """The text with all tagged documents taken out."""
    return _DOCUMENT.sub("\n", text) if "<document" in text else text


def _attributes(head: str) -> dict[str, str]:
    return {m[1]: html.unescape(m[2] if m[2] is not None else m[3]) for m in _ATTRIBUTE.finditer(head)}


@lru_cache(maxsize=8192)
def parse(text: str) -> Parsed:
    """Cut a document's text into statements and index them."""
    statements: list[Statement] = []
    postings: dict[str, list[int]] = {}
    record, rest = _opening_record(text.splitlines())
    units = [("", record, True)] if record else []
    units += [(heading, unit, False) for heading, unit in _units(rest)]
    for heading, unit, is_record in units:
        context = stems(heading)
        for sentence in _pieces(unit) if is_record else _sentences(unit):
            found = TOKEN.findall(sentence)
            own = frozenset(stem for token in found for stem in stems_of(token))
            if not own:
                continue
            place = len(statements)
            statements.append(Statement(place, sentence, own, context, len(found), is_record))
            for stem in own | context:
                postings.setdefault(stem, []).append(place)
    return Parsed(tuple(statements), {stem: tuple(places) for stem, places in postings.items()})


def _opening_record(lines: list[str]) -> tuple[str, list[str]]:
    """(the `key: value` lines at the very start, their continuations included, as one line; the other lines)."""
    start = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    end = start
    while end < len(lines) and (_KEYED.match(lines[end]) or (end > start and lines[end][:1].isspace())):
        end += 1
    if end - start < 2:
        return "", lines
    return " ".join(line.strip() for line in lines[start:end]), lines[end:]


def _units(text: list[str]) -> list[tuple[str, str]]:
    """(heading, paragraph or item), the lines of each joined by a blank; a heading is a unit too."""
    units: list[tuple[str, str]] = []
    lines: list[str] = []
    heading = ""

    def close() -> None:
        if lines:
            units.append((heading, " ".join(lines)))
            lines.clear()

    for line in text:
        bare = line.strip()
        if not bare:
            close()
        elif _UNDERLINE.match(line):
            if len(lines) == 1:
                heading = lines.pop()
                units.append(("", heading))
            close()
        elif match := _HEADING.match(line):
            close()
            heading = match[1]
            units.append(("", heading))
        else:
            if _ITEM.match(line) or _KEYED.match(line) or bare.startswith("|"):
                close()
            lines.append(bare)
    close()
    return units


def _sentences(unit: str) -> list[str]:
    return [piece for sentence in _SENTENCE.split(unit) for piece in _pieces(sentence)]


def _pieces(sentence: str) -> list[str]:
    """A sentence beyond the length that can be quoted is cut into several."""
    words = sentence.split()
    return [" ".join(words[start : start + MOST_WORDS]) for start in range(0, len(words), MOST_WORDS)]
