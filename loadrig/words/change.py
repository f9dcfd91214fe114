"""Documents that change in mid-run: what changes, and what driver and workers tell of it. Plain values.

The corpus of such a run has two versions. Instants are of the clock of whoever tells them; `ahead_ns` leads from a
worker's to the driver's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loadrig.words.corpus import Chunk, Document

BEFORE, AFTER = 1, 2


@dataclass(frozen=True, slots=True)
class Update:
    """`documents` take the place of those with their ids, or come to them, with their `chunks`; `removed` are ids of
    those that go."""

    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reindexed:
    """A retriever's new index: how long it took to build on this machine, by whoever built it, and to load; `ready_ns`:
    when, on the worker's clock, searches were of it. `failure`: why there is none, and then none of the others."""

    build_ns: int | None = None
    open_ns: int | None = None
    ready_ns: int | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Adoption:
    """A worker's part. `changed_ns`: when, on its own clock, the new texts were there for every prompt and tool;
    `indexes`: by retriever, those that are new by now, or will never be. `failure`: what ended their making."""

    changed_ns: int
    indexes: Mapping[str, Reindexed] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """The driver's part: in which going at the run (from 1) documents changed, `at` which wall time, the instant
    `at_ns` on its own clock, and by how much each worker's was `ahead_ns` then."""

    session: int
    at: str
    at_ns: int
    ahead_ns: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adopted:
    """What a worker told. `ahead_ns`: its clock minus the driver's, wrong by at most `error_ns`; None: unknown."""

    worker: str
    session: int
    adoption: Adoption
    ahead_ns: int
    error_ns: int | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What is on file of a run. `made`: None until documents have changed."""

    made: Made | None = None
    adopted: tuple[Adopted, ...] = ()
