"""`bm25-okapi`: rank_bm25's BM25Okapi as published, for comparison with results obtained with that library.

Its idf is ln((N - n + 0.5) / (n + 0.5)), which is 0 for a word in half of the chunks and negative beyond; negative
ones are replaced by 0.25 times the mean idf of the vocabulary. So a word in most chunks may weigh more than a rarer
one, and in a small corpus a word in half of the chunks finds nothing. Kept as it is: use `bm25` unless you must
compare. k1 = 1.5, b = 0.75, epsilon = 0.25. Same words and same rules of ranking as `bm25`, no bonus for part
numbers. Every search visits every chunk in Python: about 15 us a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass

from rank_bm25 import BM25Okapi

from loadrig.retrievers.material import Material
from loadrig.retrievers.ranking import Ranking, ranking_of
from loadrig.retrievers.words import words_of
from loadrig.words.arm import Unit
from loadrig.words.corpus import Hit


@dataclass(frozen=True, slots=True)
class Bm25Okapi:
    """No options: it is there to be as published."""

    def build(self, material: Material) -> Okapi:
        """Indexes every chunk."""
        rows = [words_of(chunk.text) for chunk in material.corpus.chunks]
        return Okapi(BM25Okapi(rows) if any(rows) else None, ranking_of(material.corpus))


@dataclass(frozen=True, slots=True, eq=False)
class Okapi:
    """A built index; None when no chunk has a word."""

    index: BM25Okapi | None
    ranking: Ranking

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        words = words_of(query)
        if self.index is None or not any(word in self.index.idf for word in words):
            return ()
        return self.ranking.best(self.index.get_scores(words), k, caller, unit=unit)
