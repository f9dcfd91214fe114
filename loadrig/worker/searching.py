"""Searching off the event loop and off its GIL: one process a worker that holds the indexes.

A thread would not do: BM25 in Python holds the interpreter for tens of milliseconds a query, and every stream of
the worker would be stamped late. The process is started before the first trial and ends with the worker. Where
documents change it loads a new index between two searches, and from the next one on that one holds. What a search
raises there comes back as text: an error of anybody's retriever may not survive the way between two processes, and one
that does not would be taken for the death of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from loadrig.retrievers import Retriever
from loadrig.retrievers.material import Readied
from loadrig.words.arm import Unit
from loadrig.words.change import AFTER, BEFORE
from loadrig.words.corpus import Hit
from loadrig.words.errors import FleetError, InputError, SearchFailed, described
from loadrig.worker.library import open_indexes
from loadrig.worker.rebuilding import end_with_parent

_indexes: dict[str, tuple[int, Retriever]] = {}  # of the search process, with the version of the corpus each is of
DIED = "the search process of this worker died"


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, and the nanoseconds of computing for them; what a search took beyond that it waited. `index`: the version
    of the corpus that was searched."""

    hits: tuple[Hit, ...]
    compute_ns: int
    index: int = BEFORE


class Searching:
    """`async with` starts the search process; `search` asks it. Queries wait for each other: one process."""

    def __init__(self, folder: Path) -> None:
        self._pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(str(folder),)
        )
        self._folder = str(folder)

    async def __aenter__(self) -> Searching:
        await asyncio.get_running_loop().run_in_executor(self._pool, _ready)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def search(self, retriever: str, query: str, k: int, caller: tuple[str, ...], unit: Unit) -> Found:
        """The retriever's hits, best first, and how long it computed. Raises `SearchFailed` for what the retriever
        raised, and `FleetError` when the process is gone."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._pool, _search, retriever, query, k, caller, unit)
        except BrokenProcessPool as error:
            raise FleetError(DIED) from error
        if isinstance(found, str):
            raise SearchFailed(found)
        return found

    async def open(self, of: str) -> int:
        """Loads the new indexes in files of that name; searches asked for from now on are of them. How long loading
        took, in nanoseconds."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _open, self._folder, of, AFTER)
        except BrokenProcessPool as error:
            raise FleetError(DIED) from error


def _begin(folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    threading.Thread(target=end_with_parent, daemon=True).start()
    _open(folder, "", BEFORE)


def _open(folder: str, of: str, version: int) -> int:
    begin_ns = time.perf_counter_ns()
    opened = open_indexes(Path(folder), of)
    for index in opened.values():
        if isinstance(index, Readied):
            with contextlib.suppress(InputError):  # each search will say so
                index.ready()
    _indexes.update((name, (version, one)) for name, one in opened.items())
    return time.perf_counter_ns() - begin_ns


def _ready() -> bool:
    return True


def _search(retriever: str, query: str, k: int, caller: tuple[str, ...], unit: Unit) -> Found | str:
    """What was found, or what went wrong."""
    begin_ns = time.perf_counter_ns()
    version, index = _indexes[retriever]
    try:
        hits = index.search(query, k, caller, unit=unit)
    except InputError as error:
        return f"retriever {retriever!r}: {error.problem}"
    except Exception as error:  # noqa: BLE001 - a plan may name anybody's retriever
        return f"retriever {retriever!r}: {described(error)}"
    return Found(hits, time.perf_counter_ns() - begin_ns, version)
