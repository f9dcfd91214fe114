"""Puts probes together: which kinds, in which haystack, with which questions; and checks that the truth holds.

Rules: the same corpus, options and seed give the same bytes. What a probe is about stands nowhere but in its own
needles, every answer is in the documents that its question calls gold, and where each lies is measured in the finished
texts. A corpus that is too small for the length asked for is refused: no shorter haystack is made in silence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from loadrig.corpus.needles import reworded, sentences, sheets
from loadrig.corpus.needles.fresh import Fresh
from loadrig.corpus.needles.haystack import Haystack, Lying, built
from loadrig.corpus.needles.planted import Asked, Planted
from loadrig.corpus.placing import LEAST, filled
from loadrig.tokens import Estimator
from loadrig.words.corpus import Corpus, Document
from loadrig.words.errors import InputError

LOW_OVERLAP, ONCE = "low_overlap", "seventh_of_forty"  # a row of forty agreements is enough for one corpus
REWORDED_TOKENS = 30  # of a fact in other words, at most
FAR = 0.05
_WORD = re.compile(r"\w+")
KINDS: Mapping[str, Callable[[Fresh, int], Planted]] = MappingProxyType(
    {
        "single_needle": sentences.single,
        "multi_key": sentences.multi_key,
        "multi_value": sentences.multi_value,
        "multi_query": sentences.multi_query,
        "chain": sentences.chain,
        "tracing": sentences.tracing,
        "twin": sentences.twin,
        "key_value": sheets.key_value,
        "common_words": sheets.common_words,
        "frequent_words": sheets.frequent_words,
        ONCE: sheets.seventh_of_forty,
    }
)
NAMES = (*KINDS, LOW_OVERLAP)


@dataclass(frozen=True, slots=True)
class Wish:
    """`tokens`: of the whole haystack, needles and all. `each`: probes of every kind; of facts in other words as many
    as the corpus leaves."""

    tokens: int
    each: int
    kinds: tuple[str, ...] = NAMES
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Made:
    """Documents in order of place, lines of the question file, tokens in all; `notes` say what came out otherwise."""

    documents: tuple[Lying, ...]
    questions: tuple[dict[str, Any], ...]
    tokens: int
    notes: tuple[str, ...]


def made(corpus: Corpus, wish: Wish, counter: Estimator) -> Made:
    """Probes over the corpus. Raises `InputError` when it is too small or a kind is not known."""
    if unknown := sorted(set(wish.kinds) - set(NAMES)):
        raise InputError(f"no kind of probe {unknown[0]!r}", remedy=f"there are: {', '.join(NAMES)}")
    fresh = Fresh((document.text for document in corpus.documents), wish.seed)
    probes = [
        make(fresh, number)
        for name, make in KINDS.items() if name in wish.kinds
        for number in range(1 if name == ONCE else wish.each)
    ]  # fmt: skip
    reworded_each = wish.each if LOW_OVERLAP in wish.kinds else 0
    known = sum(counter.count(needle.text) for probe in probes for needle in probe.needles)
    documents = _documents(corpus, wish, known + reworded_each * REWORDED_TOKENS)
    usable = reworded.usable(document.text for document in documents)[:reworded_each]
    probes += [reworded.low_overlap(fresh, number, pair) for number, pair in enumerate(usable)]
    needles = [needle for probe in probes for needle in probe.needles]
    haystack = built(documents, needles, counter)
    check_alone(probes, haystack)
    lines = tuple(_lines(probes, haystack, counter))
    told = f"{LOW_OVERLAP}: {len(usable)} of {reworded_each}; the haystack itself speaks of what the others are about"
    notes = [told] if len(usable) < reworded_each else []
    if off := _off(probes, lines):
        notes.append(
            f"{off} needles lie more than {FAR:.0%} of the context from where they were to; their depths say where"
        )
    return Made(haystack.documents, lines, haystack.tokens, tuple(notes))


def _documents(corpus: Corpus, wish: Wish, needles: int) -> tuple[Document, ...]:
    """Documents beside the needles, in the order of the corpus."""
    room = wish.tokens - needles
    chosen = filled(corpus.documents, room, wish.seed)
    have = sum(document.tokens for document in chosen)
    if room <= 0 or needles + have < LEAST * wish.tokens:
        problem = (
            f"{wish.tokens:,} tokens are wanted, needles take {needles:,} of them and whole documents of "
            f"{corpus.name} {have:,}"
        )
        raise InputError(problem, remedy="name other --tokens, fewer probes of each kind, or a larger corpus")
    ids = {document.id for document in chosen}
    return tuple(document for document in corpus.documents if document.id in ids)


def check_alone(probes: Sequence[Planted], haystack: Haystack) -> None:
    """Nothing else in the haystack names what a probe is about, or holds its answer. Raises `InputError`."""
    whole = _words(document.text for document in haystack.documents)
    for probe in probes:
        own = _words(needle.text for needle in probe.needles)
        for word in probe.only:
            here, there = own[word.casefold()], whole[word.casefold()]
            if here != there:
                problem = f"{word!r} stands {there} times in the haystack and {here} times in its own needles"
                raise InputError(problem, remedy="choose another --seed")


def _words(texts: Iterable[str]) -> Counter[str]:
    """Every word of the texts and how often it stands there, in one pass over what may be a whole context."""
    return Counter(word.casefold() for text in texts for word in _WORD.findall(text))


def _lines(probes: Sequence[Planted], haystack: Haystack, counter: Estimator) -> Iterator[dict[str, Any]]:
    """The lines of the question file, kinds in their order."""
    first, numbers = 0, dict[str, int]()
    for probe in probes:
        for asked in probe.asked:
            numbers[asked.category] = numbers.get(asked.category, 0) + 1
            yield _line(asked, numbers[asked.category], first, haystack, counter)
        first += len(probe.needles)


def _off(probes: Sequence[Planted], lines: Sequence[Mapping[str, Any]]) -> int:
    """Needles that answer and lie far from where they were to: a border of paragraphs or of documents was no nearer."""
    asked = [(probe, one) for probe in probes for one in probe.asked]
    return sum(
        abs(depth - probe.needles[needle].depth) > FAR
        for (probe, one), line in zip(asked, lines, strict=True)
        for (needle, words), depth in zip(one.rests, line["depths"], strict=True)
        if words is not None
    )


def _line(asked: Asked, number: int, first: int, haystack: Haystack, counter: Estimator) -> dict[str, Any]:
    homes = [haystack.documents[haystack.homes[first + needle]].id for needle, _ in asked.rests]
    line: dict[str, Any] = {
        "id": f"{asked.category.replace('_', '-')}-{number:02}",
        "category": asked.category,
        "question": asked.question,
        "reference": asked.reference,
        "gold": list(dict.fromkeys(homes)),
        "must_contain": list(asked.must_contain),
        "evidence": [
            {"doc": home, "quote": words} for home, (_, words) in zip(homes, asked.rests, strict=True) if words
        ],
        "depths": [haystack.depth(first + needle, words, counter) for needle, words in asked.rests],
    }
    return line | ({"subtype": asked.subtype} if asked.subtype else {})
