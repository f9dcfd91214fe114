"""A question file in numbers, by category: how many, what they need, and how much of their words the texts share.

    gold chunks = chunks of all gold documents of a question: what a retriever would have to show at most
    overlap     = content words in common with the nearest quote, see `loadrig.corpus.wording`

Means over the questions that have gold, medians over those that have quotes. Knows no answer.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadrig.corpus.rules.keyline import KeyLine
from loadrig.corpus.wording import STOP, overlap
from loadrig.words.corpus import Corpus

ALL = "all"


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """One category, or all of them without subtypes.

    A figure is None where no question has what it takes, or where the language has no stop words.
    """

    category: str
    questions: int
    subtypes: Mapping[str, int]
    gold_documents_mean: float | None
    gold_chunks_mean: float | None
    overlap_p50: float | None
    overlap_max: float | None


def key_figures(key: Sequence[KeyLine], corpus: Corpus, language: str) -> tuple[KeyFigures, ...]:
    """A row a category in the order of the file, then one of all."""
    chunks = Counter(chunk.document for chunk in corpus.chunks)
    categories = dict.fromkeys(line.question.category for line in key)
    groups = {name: [line for line in key if line.question.category == name] for name in categories} | {ALL: list(key)}
    return tuple(_figures(name, lines, chunks, language) for name, lines in groups.items())


def overlap_of(line: KeyLine, language: str) -> float:
    """The largest overlap of a question with one of its quotes; 0 without quotes."""
    return max((overlap(line.question.question, item.quote, language) for item in line.question.evidence), default=0.0)


def _figures(name: str, lines: Sequence[KeyLine], chunks: Mapping[str, int], language: str) -> KeyFigures:
    gold = [line.question.gold for line in lines if line.question.gold]
    quoted = [line for line in lines if line.question.evidence and language in STOP]
    shares = [overlap_of(line, language) for line in quoted]
    return KeyFigures(
        category=name,
        questions=len(lines),
        subtypes=Counter(line.subtype for line in lines if line.subtype and name != ALL),
        gold_documents_mean=_mean(len(documents) for documents in gold),
        gold_chunks_mean=_mean(sum(chunks.get(document, 0) for document in documents) for documents in gold),
        overlap_p50=statistics.median(shares) if shares else None,
        overlap_max=max(shares, default=None),
    )


def _mean(values: Iterable[int]) -> float | None:
    known = list(values)
    return statistics.fmean(known) if known else None
