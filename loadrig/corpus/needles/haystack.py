"""A haystack: documents of a corpus up to so many tokens, with paragraphs and sheets put in at given depths.

Rules: a paragraph goes between two paragraphs, nothing of a document is cut or changed; a sheet goes between two
documents. Ids number the documents in the order of their places and dates are left out, so that every order by date or
by id is the order in which they lie. Depths are measured in the finished texts.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from loadrig.corpus.needles.planted import Needle
from loadrig.tokens import Estimator
from loadrig.words.corpus import Document

_BLANK = re.compile(r"\n[ \t]*\n")
_UNFIT = re.compile(r"[^a-z0-9]+")
_LONGEST = 40  # characters of an id's name


@dataclass(frozen=True, slots=True)
class Lying:
    """A document in its place: `begin` is the number of tokens before it; `tokens` its own."""

    id: str
    title: str | None
    text: str
    begin: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Haystack:
    """Documents in order of place; `homes`: by number of needle the number of the document that it is in."""

    documents: tuple[Lying, ...]
    homes: tuple[int, ...]
    tokens: int

    def depth(self, needle: int, words: str | None, counter: Estimator) -> float:
        """Where the middle of these words of a needle's document lies, 0 to 1; None: of the whole document."""
        home = self.documents[self.homes[needle]]
        before, size = 0.0, float(home.tokens)
        if words is not None:
            at = home.text.index(words)
            before, size = counter.count(home.text[:at]), counter.count(words)
        return round((home.begin + before + size / 2) / self.tokens, 4)


def built(documents: Sequence[Document], needles: Sequence[Needle], counter: Estimator) -> Haystack:
    """The documents, in their order, with every needle as near to its depth as a border of texts or paragraphs is."""
    order = sorted(range(len(needles)), key=lambda one: needles[one].depth)
    sheets = [_sheet(one, needles[one], counter) for one in order if needles[one].title is not None]
    rows = _with_sheets(documents, sheets)
    homes = {row.sheet: place for place, row in enumerate(rows) if row.sheet is not None}
    ends = list(accumulate(row.tokens for row in rows))
    added: defaultdict[int, list[tuple[float, str]]] = defaultdict(list)
    for number in (one for one in order if needles[one].title is None):
        at = needles[number].depth * ends[-1]
        home = _document_at(rows, ends, at)
        homes[number] = home
        share = (at - ends[home] + rows[home].tokens) / max(1, rows[home].tokens)
        added[home].append((share, needles[number].text))
    lying, begin = [], 0
    for place, row in enumerate(rows):
        text = _with(row.text, added[place])
        tokens = counter.count(text)
        lying.append(Lying(f"{place + 1:04}-{_plain(row.name)}", row.title, text, begin, tokens))
        begin += tokens
    return Haystack(tuple(lying), tuple(homes[number] for number in range(len(needles))), begin)


@dataclass(frozen=True, slots=True)
class _Row:
    """A document of the corpus, or the `sheet` of that number of needle with the depth that it is to have."""

    name: str
    title: str | None
    text: str
    tokens: int
    sheet: int | None = None
    depth: float = 0.0


def _sheet(number: int, needle: Needle, counter: Estimator) -> _Row:
    return _Row(needle.title or "", needle.title, needle.text, counter.count(needle.text), number, needle.depth)


def _with_sheets(documents: Sequence[Document], sheets: Sequence[_Row]) -> list[_Row]:
    """Documents in their order, and sheets, which come in order of depth, between them."""
    waiting = deque(sheets)
    total = sum(document.tokens for document in documents) + sum(sheet.tokens for sheet in sheets)
    rows: list[_Row] = []
    at = 0
    for document in documents:
        while waiting and waiting[0].depth * total <= at + (waiting[0].tokens + document.tokens) / 2:
            rows.append(waiting.popleft())
            at += rows[-1].tokens
        rows.append(_Row(document.id, document.title, document.text, document.tokens))
        at += document.tokens
    return [*rows, *waiting]


def _document_at(rows: Sequence[_Row], ends: Sequence[int], at: float) -> int:
    """The document in which so many tokens are reached, or the nearest where that is in a sheet."""

    def away(place: int) -> float:
        return max(0.0, ends[place] - rows[place].tokens - at, at - ends[place])

    return min((place for place, row in enumerate(rows) if row.sheet is None), key=away)


def _with(text: str, added: Sequence[tuple[float, str]]) -> str:
    """The text with paragraphs at shares of its length, each at the border of paragraphs that is nearest."""
    borders = [found.end() for found in _BLANK.finditer(text)] or [found + 1 for found in _line_ends(text)]
    borders = [at for at in borders if text[:at].strip()] + [len(text)]
    at_border: defaultdict[int, list[str]] = defaultdict(list)
    for share, paragraph in added:
        at_border[min(borders, key=lambda at: abs(at - share * len(text)))].append(paragraph)
    for at in sorted(at_border, reverse=True):
        paragraphs = "".join(f"{paragraph}\n\n" for paragraph in at_border[at])
        head = text[:at]
        gap = "" if head.endswith("\n\n") else "\n" if head.endswith("\n") else "\n\n"
        text = f"{head}{gap}{paragraphs}{text[at:]}"
    return text


def _line_ends(text: str) -> list[int]:
    return [at for at, sign in enumerate(text) if sign == "\n"]


def _plain(name: str) -> str:
    """A name in letters, digits and dashes."""
    return _UNFIT.sub("-", name.casefold().removesuffix(".md").removesuffix(".txt")).strip("-")[:_LONGEST] or "sheet"
