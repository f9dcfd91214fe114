"""Scores into hits, for every retriever that scores all chunks of a corpus.

Rules: what the caller may not see is taken out before anything is ranked; a chunk with score 0 (no word in common) is
never a hit; equal scores keep the order of the corpus; fewer than k hits are an answer, none is one too. A document
ranks by its best chunk. Holds ids and labels, no texts: it is pickled to every worker.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit, sees

Scores = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The chunks of a corpus by position: their ids, their documents, and each document's labels and first chunk.

    `access` are the sets of labels that occur, each once: a million documents have few, and only those are looked at
    for a caller.
    """

    chunks: tuple[str, ...]
    documents: tuple[str, ...]
    access: tuple[tuple[str, ...], ...]
    access_of_document: npt.NDArray[np.int32]
    first_chunk: npt.NDArray[np.int64]
    document_of_chunk: npt.NDArray[np.int64]

    def best(self, scores: Scores, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        """The `k` best of one score a chunk, best first."""
        visible = self._visible(caller)
        if visible is not None:
            scores = np.where(visible[self.document_of_chunk], scores, 0)
        if unit == "document":
            scores = np.maximum.reduceat(scores, self.first_chunk)
        return tuple(self._hit(at, scores[at], unit) for at in _top(scores, k))

    def _visible(self, caller: tuple[str, ...]) -> npt.NDArray[np.bool_] | None:
        """Which documents the caller sees; None: all."""
        opens = np.array([sees(caller, access) for access in self.access])
        return None if opens.all() else opens[self.access_of_document]

    def _hit(self, at: int, score: np.floating, unit: Unit) -> Hit:
        if unit == "document":
            return Hit(self.documents[at], None, float(score))
        return Hit(self.documents[self.document_of_chunk[at]], self.chunks[at], float(score))


def ranking_of(corpus: Corpus) -> Ranking:
    """The chunks must stand in the order of the documents, each document with at least one, as `corpus.load` gives."""
    positions = {document.id: at for at, document in enumerate(corpus.documents)}
    document_of_chunk = np.array([positions[chunk.document] for chunk in corpus.chunks], dtype=np.int64)
    access = {labels: at for at, labels in enumerate(dict.fromkeys(one.access for one in corpus.documents))}
    return Ranking(
        chunks=tuple(chunk.id for chunk in corpus.chunks),
        documents=tuple(document.id for document in corpus.documents),
        access=tuple(access),
        access_of_document=np.array([access[document.access] for document in corpus.documents], dtype=np.int32),
        first_chunk=np.flatnonzero(np.diff(document_of_chunk, prepend=-1)),
        document_of_chunk=document_of_chunk,
    )


def _top(scores: Scores, k: int) -> list[int]:
    """Positions of the k largest scores above 0, larger first, equal ones in order of position."""
    found = np.flatnonzero(scores > 0)
    if 0 < k < len(found):
        kth = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= kth]
    order = np.argsort(-scores[found], kind="stable")
    return [int(at) for at in found[order[: max(k, 0)]]]
