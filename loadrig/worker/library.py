"""Corpus, questions and indexes of a run, built once by the driver and opened by every worker.

Two pickles in a private temporary folder of the run: texts for the worker, indexes for its search process. They are
read only by processes this run started, and gone with it. The large arrays of the indexes lie in a file of their own
that is mapped into memory, so that the search processes of all workers on a machine share one copy.
"""

from __future__ import annotations

import mmap
import pickle
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig import retrievers
from loadrig.retrievers import Retriever
from loadrig.words.change import Update
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError, described

TEXTS, INDEXES, ARRAYS = "texts.pickle", "indexes.pickle", "indexes.arrays"
SHARED_BYTES = 65_536  # an array of less is not worth a place of its own
_ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Texts:
    """What a worker needs to build prompts. `version`: of the corpus, in a run whose documents change; else None.
    `update`: what will change, and `rebuilt` the retrievers that are then built anew, in that order."""

    corpus: Corpus
    questions: Mapping[str, Question]
    version: int | None = None
    update: Update | None = None
    rebuilt: tuple[str, ...] = ()


def build_indexes(names: set[str], corpus: Corpus) -> tuple[dict[str, Retriever], dict[str, int]]:
    """The named retrievers over the corpus, and how long each took to build, in nanoseconds."""
    built: dict[str, Retriever] = {}
    took: dict[str, int] = {}
    for name in sorted(names):
        begin = time.perf_counter_ns()
        build = retrievers.load(name)
        try:
            built[name] = build(corpus)
        except Exception as error:  # a plan may name anybody's retriever
            raise InputError(
                f"retriever {name!r} cannot be built: {described(error)}", remedy="correct it, or name another"
            ) from error
        took[name] = time.perf_counter_ns() - begin
    return built, took


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
    indexes: dict[str, Retriever] = pickle.loads(pickled, buffers=arrays)  # noqa: S301 - see `_opened`
    return indexes


def _opened(path: Path) -> Any:
    return pickle.loads(path.read_bytes())  # noqa: S301 - written by this run, into its own folder
