"""A haystack: documents of a corpus up to so many tokens, with paragraphs and sheets put in at given depths.

Rules: a paragraph goes between two paragraphs, nothing of a document is cut or changed; a sheet goes between two
documents. Ids number the documents in the order of their places and dates are left out, so that every order by date or
by id is the order in which they lie. Depths are measured in the finished texts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
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
    """The documents, in their order, with every needle as near to its depth as a border of paragraphs is."""
    ends = list(accumulate(document.tokens for document in documents))
    order = sorted(range(len(needles)), key=lambda one: needles[one].depth)
    inside, before = _places(documents, ends, [(number, needles[number]) for number in order])
    rows: list[tuple[str, str | None, str]] = []
    homes = [0] * len(needles)
    for place, document in enumerate([*documents, None]):
        for number in before[place]:
            homes[number] = len(rows)
            rows.append((needles[number].title or "", needles[number].title, needles[number].text))
        if document is None:
            continue
        begin = ends[place] - document.tokens
        added = []
        for number in inside[place]:
            homes[number] = len(rows)
            share = (needles[number].depth * ends[-1] - begin) / max(1, document.tokens)
            added.append((share, needles[number].text))
        rows.append((document.id, document.title, _with(document.text, added)))
    return _laid(rows, homes, counter)


def _places(
    documents: Sequence[Document], ends: Sequence[int], needles: Sequence[tuple[int, Needle]]
) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
    """By number of document the needles that go into it, and the sheets that go before it."""
    inside: defaultdict[int, list[int]] = defaultdict(list)
    before: defaultdict[int, list[int]] = defaultdict(list)
    for number, needle in needles:
        at = needle.depth * ends[-1]
        home = min(bisect_right(ends, at), len(documents) - 1)
        if needle.title is None:
            inside[home].append(number)
        else:
            middle = ends[home] - documents[home].tokens / 2
            before[home if at < middle else home + 1].append(number)
    return inside, before


def _laid(rows: Sequence[tuple[str, str | None, str]], homes: Sequence[int], counter: Estimator) -> Haystack:
    lying, begin = [], 0
    for place, (name, title, text) in enumerate(rows, start=1):
        tokens = counter.count(text)
        lying.append(Lying(f"{place:04}-{_plain(name)}", title, text, begin, tokens))
        begin += tokens
    return Haystack(tuple(lying), tuple(homes), begin)


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
