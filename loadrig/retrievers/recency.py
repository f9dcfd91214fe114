"""`recency`: another retriever's hits with the documents' dates as a prior, for questions that ask what holds now.

score'(hit) = score(hit) * (1 + weight * (2 * r - 1)), r the share of the other dated documents that are older, half of
those of the same date counted: 0 for the oldest, 1 for the newest, so that the factor runs from 1 - weight to
1 + weight. A document without a date has r = 1/2, factor 1: neither lifted nor lowered. Dates are those of the whole
corpus. The best `depth` hits of the other are weighed; what it does not find is not found.

A factor on scores: over `bm25` and `dense` these differ widely, over `hybrid` little: there a small weight does much.
Scores below 0, which some rerank endpoints give, would be weighed the other way round: it wants scores above.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from loadrig.retrievers.material import Material, Retriever
from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit
from loadrig.words.settings import Positive, Share


@dataclass(frozen=True, slots=True)
class Recency:
    """Weighs the hits of the retriever `of`. `weight` 0 leaves them as they are."""

    of: str = "bm25"
    weight: Annotated[float, Share] = 0.1
    depth: Annotated[int, Positive] = 100

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.of,)

    def build(self, material: Material) -> Dated:
        """A factor for each dated document."""
        factors = {doc: 1 + self.weight * (2 * r - 1) for doc, r in newness(material.corpus).items()}
        return Dated(material.parts[self.of], factors, self.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Dated:
    """`factors` by document; 1 for those without."""

    part: Retriever
    factors: Mapping[str, float]
    depth: int

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        if k <= 0:
            return ()
        hits = self.part.search(query, max(k, self.depth), caller, unit=unit)
        weighed = [replace(hit, score=hit.score * self.factors.get(hit.doc, 1.0)) for hit in hits]
        return tuple(sorted(weighed, key=lambda hit: -hit.score)[:k])


def newness(corpus: Corpus) -> dict[str, float]:
    """r of each dated document (see above), by its id; a single dated one has 1/2."""
    dates = sorted(document.date for document in corpus.documents if document.date)
    others = len(dates) - 1
    return {
        document.id: (bisect_left(dates, document.date) + bisect_right(dates, document.date) - 1) / (2 * others)
        if others
        else 0.5
        for document in corpus.documents
        if document.date
    }
