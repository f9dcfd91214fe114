"""`hybrid`: several retrievers as one, by reciprocal rank fusion: what two rankings agree on comes first.

score(hit) = sum over the retrievers that found it of 1 / (constant + rank), ranks from 1, constant = 60.
Source: Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
Methods, SIGIR 2009. Scores of the retrievers are not compared, only their ranks; each is asked for its best `depth`.
Equal sums: the better single rank first, then the retriever named first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated

from loadrig.retrievers.material import Material, Retriever
from loadrig.words.arm import Unit
from loadrig.words.corpus import Hit
from loadrig.words.settings import NotEmpty, NotNegative, Positive


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Fuses the retrievers `of`, by their names."""

    of: Annotated[tuple[str, ...], NotEmpty] = ("bm25", "dense")
    constant: Annotated[float, NotNegative] = 60.0
    depth: Annotated[int, Positive] = 100

    @property
    def retrievers(self) -> tuple[str, ...]:
        return self.of

    def build(self, material: Material) -> Fused:
        """Nothing to build: its parts are."""
        return Fused(tuple(material.parts[name] for name in self.of), self.constant, self.depth)


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """Asks every part the same."""

    parts: tuple[Retriever, ...]
    constant: float
    depth: int

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        if k <= 0:
            return ()
        rankings = [part.search(query, max(k, self.depth), caller, unit=unit) for part in self.parts]
        scores: dict[tuple[str, str | None], float] = {}
        for rank, level in enumerate(zip_longest(*rankings), start=1):
            for hit in level:
                if hit is not None:
                    place = hit.doc, hit.chunk
                    scores[place] = scores.get(place, 0.0) + 1 / (self.constant + rank)
        best = sorted(scores.items(), key=lambda item: -item[1])[:k]
        return tuple(Hit(doc, chunk, score) for (doc, chunk), score in best)
