"""`dense`: by meaning. A model turns passages and query into vectors; score(chunk) = the cosine of the two.

The model is MiniLM out of a package (see `minilm`), or any behind an embeddings endpoint (`url`). Only passages with a
score above 0 are hits, and only for a query that has a word in it; a passage without one is never found. But a query
whose every word is unknown finds something all the same: that is in the nature of it.

Equal texts are embedded once and share one vector, so that equal passages have equal scores. Vectors are kept on disk
(see `vectors`). Every chunk is compared with the query.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np
import numpy.typing as npt

from loadrig.retrievers.endpoint import Endpoint, check_address, embeddings
from loadrig.retrievers.material import Material
from loadrig.retrievers.minilm import MOST_TOKENS, NAME, minilm
from loadrig.retrievers.ranking import Ranking, ranking_of
from loadrig.retrievers.vectors import Vectors
from loadrig.retrievers.words import words_of
from loadrig.words.arm import Unit
from loadrig.words.corpus import Hit
from loadrig.words.errors import InputError
from loadrig.words.settings import Positive

SAY_EVERY_S = 3.0


class Embedder(Protocol):
    """`identity` tells its vectors apart from those of any other."""

    @property
    def identity(self) -> str: ...
    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text, each of length 1. Raises `InputError`."""
        ...


@dataclass(frozen=True, slots=True)
class Dense:
    """`max_tokens`: where the packaged model cuts a text; an endpoint cuts as it likes. For an endpoint: its whole
    address, the `model` it is asked for, how many texts a request (`batch`), the name of the environment variable that
    holds its `key`. Some models want a word before a query and a passage: `query_prefix`, `passage_prefix`."""

    url: str | None = None
    model: str | None = None
    max_tokens: Annotated[int, Positive] = 256
    batch: Annotated[int, Positive] = 32
    key: str | None = None
    query_prefix: str = ""
    passage_prefix: str = ""

    def __post_init__(self) -> None:
        check_address(self.url or "")
        if self.max_tokens > MOST_TOKENS:
            raise ValueError(f"the model takes at most {MOST_TOKENS} tokens")
        if self.url is None and self.model not in (None, NAME):
            raise ValueError(f"without url the model is {NAME}: give the endpoint's url")
        if self.url is None and self.key:
            raise ValueError("key is an endpoint's: give its url")

    def embedder(self) -> Embedder:
        """The model. Raises `InputError` where it is not to be had."""
        return minilm(self.max_tokens) if self.url is None else Served(Endpoint(self.url, self.model, self.key))

    def build(self, material: Material) -> DenseIndex:
        """Embeds what is not on disk yet: with the packaged model about a tenth of a second a passage and core."""
        chunks = material.corpus.chunks
        texts = [self.passage_prefix + chunk.text if words_of(chunk.text) else "" for chunk in chunks]
        embedder = self.embedder()
        distinct = list(dict.fromkeys(text for text in texts if text))
        vectors = _embedded(distinct, embedder, self.batch, material)
        blank = np.zeros((1, vectors.shape[1]), dtype=np.float32)
        places = {text: at for at, text in enumerate([*distinct, ""])}
        place_of_chunk = np.array([places[text] for text in texts], dtype=np.int32)
        rows = np.concatenate([vectors, blank])
        return DenseIndex(self, embedder.identity, rows, place_of_chunk, ranking_of(material.corpus))


@dataclass(frozen=True, slots=True)
class Served:
    """A model behind an endpoint."""

    endpoint: Endpoint

    @property
    def identity(self) -> str:
        return f"{self.endpoint.url} {self.endpoint.model}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        rows = embeddings(self.endpoint, texts)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not lengths.all():
            raise InputError(f"{self.endpoint.url} gave a vector of zeros", remedy="check the model")
        return np.asarray(rows / lengths, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class DenseIndex:
    """`vectors` of the distinct texts, the last row blank; `place_of_chunk` says which is a chunk's. The model itself
    is not part of it: each process loads its own."""

    options: Dense
    identity: str
    vectors: npt.NDArray[np.float32]
    place_of_chunk: npt.NDArray[np.int32]
    ranking: Ranking

    def ready(self) -> None:
        if self.options.url is None:
            self.options.embedder()

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        if k <= 0 or len(self.vectors) == 1 or not words_of(query):
            return ()
        (vector,) = self.options.embedder().embed([self.options.query_prefix + query])
        if len(vector) != self.vectors.shape[1]:
            problem = f"the query has {len(vector)} numbers, the passages have {self.vectors.shape[1]}"
            raise InputError(problem, remedy="the model behind the endpoint has changed: build anew")
        scores = (self.vectors @ vector)[self.place_of_chunk]
        return self.ranking.best(scores, k, caller, unit=unit)


def _embedded(texts: Sequence[str], embedder: Embedder, batch: int, material: Material) -> npt.NDArray[np.float32]:
    """One row a text: from disk, else made now and put there, batch by batch."""
    store = Vectors.of(embedder.identity)
    keys = [store.key(text) for text in texts]
    found = store.known(keys)
    missing = [at for at, key in enumerate(keys) if key not in found]
    if missing:
        told = f"{len(missing):,} of {len(texts):,} passages are to be embedded"
        material.say(f"{told}; vectors are kept in {store.path}, so that a build may be stopped and begun again")
    began_s = said_s = time.monotonic()
    for done in range(0, len(missing), batch):
        material.go_on()
        now_s = time.monotonic()
        if done and now_s - said_s >= SAY_EVERY_S:
            left_s = (now_s - began_s) / done * (len(missing) - done)
            material.say(f"{done:,} of {len(missing):,} passages embedded, about {left_s:,.0f} s left")
            said_s = now_s
        some = missing[done : done + batch]
        made = dict(zip((keys[at] for at in some), embedder.embed([texts[at] for at in some]), strict=True))
        store.add(made)
        found.update(made)
    return np.stack([found[key] for key in keys]) if texts else np.zeros((0, 1), dtype=np.float32)
