"""`rerank`: the best hits of another retriever, put into a new order by a closer look at query and passage together.

With `url`, by a model behind a rerank endpoint, whose relevance is the score. Without, by a stated stand-in that knows
words only (there is no model to be had in a package):

    score(chunk) = (covered + close) / 2

covered: the share of the query's distinct words that the chunk has, each weighed by its idf = ln(1 + N / n); close: the
share of the query's pairs of neighbouring distinct words that stand side by side in the chunk, in either order. Both
are among the words that the corpus knows; without a pair `close` is left out. Equal scores keep the first order.

The best `depth` chunks of the other are looked at; a document ranks by its best chunk.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated

from loadrig.retrievers.endpoint import Endpoint, check_address, relevance
from loadrig.retrievers.material import Material, Retriever
from loadrig.retrievers.packed import Packed, packed
from loadrig.retrievers.words import words_of
from loadrig.words.arm import Unit
from loadrig.words.corpus import Hit
from loadrig.words.settings import Positive


@dataclass(frozen=True, slots=True)
class Rerank:
    """Reorders the hits of the retriever `of`. `url`: a rerank endpoint, `model` what it is asked for, `key` the name
    of the environment variable that holds its key."""

    of: str = "bm25"
    depth: Annotated[int, Positive] = 50
    url: str | None = None
    model: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        check_address(self.url or "")
        if self.url is None and (self.model or self.key):
            raise ValueError("model and key are an endpoint's: give its url")

    @property
    def retrievers(self) -> tuple[str, ...]:
        return (self.of,)

    def build(self, material: Material) -> Reranked:
        """Keeps the texts of all chunks, and counts the words."""
        chunks = material.corpus.chunks
        scorer: Words | Endpoint
        if self.url is None:
            found = Counter(word for chunk in chunks for word in dict.fromkeys(words_of(chunk.text)))
            scorer = Words({word: math.log(1 + len(chunks) / count) for word, count in found.items()})
        else:
            scorer = Endpoint(self.url, self.model, self.key)
        places = {chunk.id: at for at, chunk in enumerate(chunks)}
        return Reranked(material.parts[self.of], self.depth, scorer, packed(chunk.text for chunk in chunks), places)


@dataclass(frozen=True, slots=True)
class Words:
    """The stand-in: the weight of each word of the corpus."""

    idf: Mapping[str, float]

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        words = list(dict.fromkeys(word for word in words_of(query) if word in self.idf))
        return [self._score(words, words_of(passage)) for passage in passages]

    def _score(self, asked: Sequence[str], passage: Sequence[str]) -> float:
        if not asked:
            return 0.0
        there = set(passage)
        covered = sum(self.idf[word] for word in asked if word in there) / sum(self.idf[word] for word in asked)
        pairs = {frozenset(pair) for pair in pairwise(asked)}
        if not pairs:
            return covered
        beside = {frozenset(pair) for pair in pairwise(passage)}
        return (covered + len(pairs & beside) / len(pairs)) / 2


@dataclass(frozen=True, slots=True, eq=False)
class Reranked:
    """`places` are the chunks' positions in `texts`."""

    part: Retriever
    depth: int
    scorer: Words | Endpoint
    texts: Packed
    places: Mapping[str, int]

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        if k <= 0:
            return ()
        hits = self.part.search(query, max(k, self.depth), caller, unit="chunk")
        if not hits:
            return ()
        passages = [self.texts.text(self.places[hit.chunk or ""]) for hit in hits]
        if isinstance(self.scorer, Endpoint):
            scores = relevance(self.scorer, query, passages)
        else:
            scores = self.scorer.scores(query, passages)
        ranked = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
        best = [replace(hit, score=score) for hit, score in ranked]
        if unit == "document":
            first = {hit.doc: replace(hit, chunk=None) for hit in reversed(best)}
            best = [first[doc] for doc in dict.fromkeys(hit.doc for hit in best)]
        return tuple(best[:k])
