"""What a retriever is built of, and what it is: the seam between the table and each kind.

A kind is a frozen dataclass whose fields are its options. It builds what answers `search`; that is pickled to the
workers, so it holds no open file, no session and no lock. One that searches through others names them in `retrievers`
and finds them built in `Material.parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from loadrig.words.arm import Unit
from loadrig.words.corpus import Corpus, Hit


class Retriever(Protocol):
    """Finds what a query asks for among what the caller may see."""

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: Unit) -> tuple[Hit, ...]:
        """The best `k` chunks or whole documents, best first; fewer when there are not so many to be found."""
        ...


@runtime_checkable
class Readied(Protocol):
    """A retriever with something to load where it is opened, so that the first query does not pay for it."""

    def ready(self) -> None: ...


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Material:
    """`parts` are the retrievers that the kind names, built. `say` tells the user how a long build goes; `go_on`,
    called now and then, raises `Interrupted` when he wants it to end."""

    corpus: Corpus
    parts: Mapping[str, Retriever] = field(default_factory=dict)
    say: Callable[[str], object] = _nothing
    go_on: Callable[[], object] = _nothing


Build = Callable[[Corpus], Retriever]


class Kind(Protocol):
    """A kind of retriever with its options; `retrievers`, a tuple of names, only where it searches through others."""

    def build(self, material: Material) -> Retriever:
        """Does all work that can be done before a run. Raises `InputError`."""
        ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A function `build(corpus)` of the user's own as a kind: it has no options."""

    function: Build

    def build(self, material: Material) -> Retriever:
        return self.function(material.corpus)


def parts_of(kind: Kind) -> tuple[str, ...]:
    """The names of the retrievers that it searches through."""
    return tuple(getattr(kind, "retrievers", ()))
