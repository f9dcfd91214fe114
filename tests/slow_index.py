"""A retriever that takes a second to build, whatever the corpus; it then searches as bm25 does."""

from __future__ import annotations

import time

from loadrig.retrievers import Retriever
from loadrig.retrievers.bm25 import build as quick
from loadrig.words.corpus import Corpus

TAKES_S = 1.0
builds: list[Corpus] = []  # of this process


def build(corpus: Corpus) -> Retriever:
    """Sleeps first."""
    builds.append(corpus)
    time.sleep(TAKES_S)
    return quick(corpus)


def failing(corpus: Corpus) -> Retriever:
    """Cannot be built over documents of which one says `unbuildable`."""
    if any("unbuildable" in document.text for document in corpus.documents):
        raise ValueError("no index over that")
    return quick(corpus)


def endless(corpus: Corpus) -> Retriever:
    """As good as never built anew: a minute over documents that have changed."""
    if any("in November" in document.text for document in corpus.documents):
        time.sleep(60)
    return quick(corpus)
