"""Retrievers by name. A name is one that a plan gave (`[[retriever]]`), one of the table below, or `module:attr`.

A retriever is one file and one line in the table: a frozen dataclass whose fields are its options, with `build` (see
`material.py`). `module:attr` is such a dataclass of the user's own, or a plain function `build(corpus)`. What is built
is pickled to the workers and may be searched from several threads.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

from loadrig.retrievers.material import Build, Kind, Material, Plain, Retriever, parts_of
from loadrig.suggest import did_you_mean
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError, described

__all__ = ["RETRIEVERS", "Build", "Kind", "Material", "Retriever", "kind_named", "load", "needed"]

RETRIEVERS = {
    "bm25": "loadrig.retrievers.bm25:Bm25",
    "bm25-okapi": "loadrig.retrievers.bm25_okapi:Bm25Okapi",
    "dense": "loadrig.retrievers.dense:Dense",
    "hybrid": "loadrig.retrievers.hybrid:Hybrid",
    "rerank": "loadrig.retrievers.rerank:Rerank",
    "recency": "loadrig.retrievers.recency:Recency",
}


def kind_named(name: str, given: Iterable[str] = ()) -> Any:
    """The class of a kind of the table or of `module:attr`, or the function there. Raises `InputError` for any other
    name; `given` are more that might have been meant."""
    target = RETRIEVERS.get(name, name)
    module, colon, attribute = target.partition(":")
    if not colon:
        raise InputError(f"no retriever {name!r}", remedy=did_you_mean(name, [*given, *RETRIEVERS]))
    try:
        return getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a plan may name anybody's module
        remedy = "name a module that Python finds and a build(corpus) function in it"
        raise InputError(f"retriever {name!r} cannot be loaded: {described(error)}", remedy=remedy) from error


def has_options(kind: object) -> bool:
    """Whether it is a kind with options: a dataclass with `build`. Anything else is called with the corpus."""
    return isinstance(kind, type) and is_dataclass(kind) and hasattr(kind, "build")


def needed(names: Iterable[str], given: Mapping[str, Kind] | None = None) -> dict[str, Kind]:
    """The retrievers of these names and all that they search through, each behind those it needs. `given` are those
    that a plan named. Raises `InputError` for an unknown one and for one that searches through itself."""
    found: dict[str, Kind] = {}

    def add(name: str, within: tuple[str, ...]) -> None:
        if name in within:
            chain = " -> ".join((*within[within.index(name) :], name))
            raise InputError(f"a retriever searches through itself: {chain}", remedy="name another in one of them")
        if name in found:
            return
        kind = _kind(name, given or {})
        for part in parts_of(kind):
            add(part, (*within, name))
        found[name] = kind

    for name in names:
        add(name, ())
    return found


def load(name: str) -> Build:
    """What builds the retriever of that name, with its options as they are by default. Raises `InputError`."""
    kinds = needed([name])

    def build(corpus: Corpus) -> Retriever:
        built: dict[str, Retriever] = {}
        for part, kind in kinds.items():
            built[part] = kind.build(Material(corpus, built))
        return built[name]

    return build


def _kind(name: str, given: Mapping[str, Kind]) -> Kind:
    if name in given:
        return given[name]
    found = kind_named(name, given)
    if not has_options(found):
        return Plain(found)
    try:
        kind: Kind = found()
    except (TypeError, ValueError) as error:
        remedy = "give it a [[retriever]] table with a name and options, and name that"
        raise InputError(f"retriever {name!r} is none without options: {error}", remedy=remedy) from error
    return kind
