"""Puts the gold documents of a question at a depth of a context of a given length: what lost-in-the-middle is seen by.

Rules: the context is made of whole documents: the gold ones, and others in seeded order as long as they fit. The depth
of a document is where its middle token lies, as a share of all tokens; it lies in its band, or nothing is placed and it
is said why: no other depth is ever taken in silence. Tokens are those of the texts, by the local estimator; tags around
them are not counted. Knows no prompt, and no question but by its gold. Pure.

(The design is that of Liu et al., Lost in the Middle, arXiv:2307.03172: one text that answers, others that do not, and
its place varied.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

from loadrig.words.corpus import Document

LEAST = 0.9
"""Of the length that was asked for, so much has to be filled: whole documents hardly ever come to it exactly."""
ORDERS = 20  # tried before it is said that there is none
_BAND = re.compile(r"(\d{1,3})-(\d{1,3})%?")


@dataclass(frozen=True, slots=True)
class Band:
    """A part of a context, from `low` to `high`, both ends in it; shares of its tokens."""

    low: float
    high: float

    @property
    def name(self) -> str:
        """`40-60`, in percent."""
        return f"{self.low * 100:.0f}-{self.high * 100:.0f}"

    def holds(self, depth: float) -> bool:
        return self.low <= depth <= self.high


@dataclass(frozen=True, slots=True)
class Placed:
    """Documents in the order of the prompt; where the middle of each gold one lies, in that order; tokens in all."""

    documents: tuple[Document, ...]
    depths: tuple[float, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Unplaceable:
    """Why the gold documents cannot stand where they were to."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Target:
    """A gold document and where its middle is to lie, in the band that it was dealt."""

    document: Document
    depth: float
    band: Band


def bands_of(text: str) -> tuple[Band, ...]:
    """The bands that a text names: `40-60%`, or several joined by `+`. Raises `ValueError`."""
    found = []
    for part in text.split("+"):
        match = _BAND.fullmatch(part.strip())
        low, high = (int(match[1]), int(match[2])) if match else (1, 0)
        if not 0 <= low < high <= 100:
            raise ValueError(f"{part.strip()!r} is no band: write 40-60%, or 0-10%+90-100% for several")
        found.append(Band(low / 100, high / 100))
    return tuple(found)


def place_gold_at_depth(
    documents: Sequence[Document], gold: Collection[str], bands: Sequence[Band], *, length: int, seed: int
) -> Placed | Unplaceable:
    """A context of at most `length` tokens with every gold document in it.

    Several gold documents are spread evenly in one band; of several bands each takes its share of them, in turn.
    Without gold there is nothing to place: as many documents as fit, however few.
    """
    wanted = [document for document in documents if document.id in gold]
    if reason := _obstacle(wanted, gold, length):
        return Unplaceable(reason)
    chosen = filled([one for one in documents if one.id not in gold], length - _tokens(wanted), seed)
    total = _tokens(chosen) + _tokens(wanted)
    if gold and total < LEAST * length:
        return Unplaceable(
            f"{_tokens(wanted):,} tokens of gold and {_tokens(chosen):,} of other whole documents that fit are "
            f"{total:,}: too few for a context of {length:,}"
        )
    targets = _targets(wanted, bands, seed)
    for order in range(ORDERS):
        placed = _arranged(_in_order(chosen, seed, order), targets, total)
        if all(target.band.holds(depth) for depth, target in zip(placed.depths, targets, strict=True)):
            return placed
    told = ", ".join(f"{depth:.1%}" for depth in placed.depths)
    largest = max(document.tokens for document in wanted)
    return Unplaceable(
        f"no order of whole documents of {total:,} tokens has the middle of every gold one in "
        f"{' and '.join(f'{band.name} %' for band in bands)}: it comes to {told} (the largest is {largest:,} tokens)"
    )


def middles(documents: Sequence[Document]) -> tuple[float, ...]:
    """Where the middle of each document lies, as a share of the tokens of all."""
    total = _tokens(documents)
    ends = accumulate(document.tokens for document in documents)
    return tuple((end - document.tokens / 2) / total for document, end in zip(documents, ends, strict=True))


def _obstacle(wanted: Sequence[Document], gold: Collection[str], length: int) -> str | None:
    """Why no order at all will do."""
    if missing := sorted(set(gold) - {document.id for document in wanted}):
        return f"gold document {missing[0]!r} is not among the documents that the caller may see"
    if _tokens(wanted) > length:
        return f"the gold documents alone are {_tokens(wanted):,} tokens, the context is to be of {length:,}"
    return None


def filled(documents: Sequence[Document], room: int, seed: int) -> list[Document]:
    """Documents in seeded order, each that still fits into so many tokens."""
    chosen = []
    for document in _in_order(documents, seed, 0):
        if document.tokens <= room:
            chosen.append(document)
            room -= document.tokens
    return chosen


def _in_order(documents: Sequence[Document], seed: int, order: int) -> list[Document]:
    """By a hash, so that the same documents stand in the same order on every machine."""
    return sorted(documents, key=lambda one: blake2b(f"{seed}/{order}/{one.id}".encode(), digest_size=8).digest())


def _targets(wanted: Sequence[Document], bands: Sequence[Band], seed: int) -> list[_Target]:
    """One for each gold document, in order of depth."""
    mixed = _in_order(wanted, seed, -1)
    found = []
    for place, band in enumerate(bands):
        own = mixed[place :: len(bands)]
        step = (band.high - band.low) / max(1, len(own))
        found += [_Target(document, band.low + (number + 0.5) * step, band) for number, document in enumerate(own)]
    return sorted(found, key=lambda one: (one.depth, one.document.id))


def _arranged(others: Sequence[Document], targets: Sequence[_Target], total: int) -> Placed:
    """Documents laid down from the top: before each gold one as many others as come nearest to its depth."""
    left, laid, at = list(others), list[Document](), 0
    for target in targets:
        start = target.depth * total - target.document.tokens / 2
        for one in _filling(left, start - at):
            left.remove(one)
            laid.append(one)
            at += one.tokens
        laid.append(target.document)
        at += target.document.tokens
    laid += left
    golden = {target.document.id for target in targets}
    depths = tuple(depth for depth, one in zip(middles(laid), laid, strict=True) if one.id in golden)
    return Placed(tuple(laid), depths, total)


def _filling(left: Sequence[Document], room: float) -> list[Document]:
    """Documents that fill the room: each that fits, and one more where that comes nearer."""
    taken = []
    for document in left:
        if document.tokens <= room:
            taken.append(document)
            room -= document.tokens
    ids = {document.id for document in taken}
    over = min((one for one in left if one.id not in ids), key=lambda one: one.tokens, default=None)
    return [*taken, over] if over is not None and over.tokens - room < room else taken


def _tokens(documents: Sequence[Document]) -> int:
    return sum(document.tokens for document in documents)
