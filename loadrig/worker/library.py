"""Corpus, questions and indexes of a run, built once by the driver and opened by every worker.

Two pickles in a private temporary folder of the run: texts for the worker, indexes for its search process. They are
read only by processes this run started, and gone with it. The large arrays of the indexes lie in a file of their own
that is mapped into memory, so that the search processes of all workers on a machine share one copy.
"""

from __future__ import annotations

import io
import mmap
import pickle
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from loadrig.retrievers import Kind, Material, Retriever, needed
from loadrig.words.change import Update
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError, LoadrigError, described
from loadrig.words.settings import NamedRetriever

TEXTS, INDEXES, ARRAYS = "texts.pickle", "indexes.pickle", "indexes.arrays"
SHARED_BYTES = 65_536  # an array of less is not worth a place of its own
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Texts:
    """What a worker needs to build prompts. `version`: of the corpus, in a run whose documents change; else None.
    `update`: what will change, and `rebuilt` the retrievers that are then built anew, in that order; `given` are those
    that the plan named."""

    corpus: Corpus
    questions: Mapping[str, Question]
    version: int | None = None
    update: Update | None = None
    rebuilt: tuple[str, ...] = ()
    given: tuple[NamedRetriever, ...] = ()


@dataclass(frozen=True, slots=True)
class Building:
    """How a build speaks to the user, and hears from him: `go_on` raises `Interrupted` when he wants it to end."""

    say: Callable[[str], object] = lambda _: None
    go_on: Callable[[], object] = lambda: None


def build_indexes(
    names: Iterable[str],
    corpus: Corpus,
    *,
    given: Iterable[NamedRetriever] = (),
    building: Building | None = None,
    have: Mapping[str, Retriever] | None = None,
) -> tuple[dict[str, Retriever], dict[str, int]]:
    """The named retrievers over the corpus with all that they search through, and how long each took to build by
    itself, in nanoseconds. `given` are those that a plan named; what is in `have` is not built again. Raises
    `InputError` and what `go_on` does."""
    building = building or Building()
    built: dict[str, Retriever] = dict(have or {})
    took: dict[str, int] = {}
    for name, kind in needed(sorted(names), {one.name: one.options for one in given}).items():
        if name in built:
            continue
        begin = time.perf_counter_ns()
        built[name] = _built(name, kind, corpus, built, building)
        took[name] = time.perf_counter_ns() - begin
    return built, took


def _built(name: str, kind: Kind, corpus: Corpus, parts: Mapping[str, Retriever], building: Building) -> Retriever:
    material = Material(corpus, parts, lambda text: building.say(f"{name}: {text}"), building.go_on)
    try:
        return kind.build(material)
    except InputError as error:
        raise InputError(f"retriever {name!r} cannot be built: {error.problem}", remedy=error.remedy) from error
    except LoadrigError:
        raise
    except Exception as error:  # a plan may name anybody's retriever
        raise InputError(
            f"retriever {name!r} cannot be built: {described(error)}", remedy="correct it, or name another"
        ) from error


def save(folder: Path, texts: Texts, indexes: Mapping[str, Retriever]) -> None:
    """Writes all files into `folder`."""
    (folder / TEXTS).write_bytes(pickle.dumps(texts, protocol=pickle.HIGHEST_PROTOCOL))
    save_indexes(folder, indexes)


def save_indexes(folder: Path, indexes: Mapping[str, Retriever], of: str = "") -> None:
    """Writes indexes into `folder`, into files whose names begin with `of`."""
    arrays: list[memoryview] = []

    def keeps(buffer: pickle.PickleBuffer) -> bool:
        """Whether the pickle holds the buffer itself."""
        content = buffer.raw()
        if content.nbytes >= SHARED_BYTES:
            arrays.append(content)
        return content.nbytes < SHARED_BYTES

    pickled = pickle.dumps(dict(indexes), protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=keeps)
    sizes = [array.nbytes for array in arrays]
    (folder / f"{of}{INDEXES}").write_bytes(pickle.dumps((sizes, pickled)))
    with (folder / f"{of}{ARRAYS}").open("wb") as file:
        for array in arrays:
            file.write(array)
            file.write(bytes(-array.nbytes % _ALIGNED))


def open_texts(folder: Path) -> Texts:
    """The texts that `save` wrote into `folder`."""
    texts: Texts = _opened(folder / TEXTS)
    return texts


def open_indexes(folder: Path, of: str = "") -> dict[str, Retriever]:
    """The indexes that were saved in `folder`, by retriever name. Their large arrays cannot be written to."""
    sizes, pickled = _opened(folder / f"{of}{INDEXES}")
    mapped = memoryview(b"")
    if sizes:
        with (folder / f"{of}{ARRAYS}").open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    arrays, at = [], 0
    for size in sizes:
        arrays.append(mapped[at : at + size])
        at += size + -size % _ALIGNED
    indexes: dict[str, Retriever] = _Opening(io.BytesIO(pickled), buffers=arrays).load()
    return indexes


class _Opening(pickle.Unpickler):
    """Gives arrays numpy's own types. A type that was pickled comes back as another object that is equal to it, and
    what numpy does quickly for its own alone, such as adding at indices, takes thirty times as long."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        if name != "_frombuffer" or not module.startswith("numpy"):
            return found
        return lambda *given: _own_type(found(*given))


def _own_type(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.dtype.names or array.dtype.hasobject else array.view(np.dtype(array.dtype.str))


def _opened(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301 - written by this run, into its own folder
