"""Retrievers by name. `load("bm25")` gives a `build` function; what it builds answers `search`.

A retriever is one file and one line in the table below: `build(corpus)` does all work that can be done before a
run; the result is pickled to the workers and may be searched from several threads. A name `module:attr` is a
retriever of the user's own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from loadrig.suggest import did_you_mean
from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit
from loadrig.words.errors import InputError

RETRIEVERS = {
    "bm25": "loadrig.retrievers.bm25:build",
    "bm25-okapi": "loadrig.retrievers.bm25_okapi:build",
}


class Retriever(Protocol):
    """Finds what a query asks for among what the caller may see."""

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        """The best `k` chunks or whole documents, best first; fewer when there are not so many with a known word."""
        ...


Build = Callable[[Corpus], Retriever]


def load(name: str) -> Build:
    """The build function of a retriever of the table or of `module:attr`. Raises `InputError` for any other name."""
    target = RETRIEVERS.get(name, name)
    module, colon, attribute = target.partition(":")
    if not colon:
        raise InputError(f"no retriever {name!r}", remedy=did_you_mean(name, RETRIEVERS))
    try:
        return cast("Build", getattr(importlib.import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        remedy = "name a module that Python finds and a build(corpus) function in it"
        raise InputError(f"retriever {name!r} cannot be loaded: {error}", remedy=remedy) from error
