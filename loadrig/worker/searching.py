"""Searching off the event loop and off its GIL: one process a worker that holds the indexes.

A thread would not do: BM25 in Python holds the interpreter for tens of milliseconds a query, and every stream of
the worker would be stamped late. The process is started before the first trial and ends with the worker. Where
documents change it loads a new index between two searches, and from the next one on that one holds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from loadrig.retrievers import Retriever
from loadrig.words.arm import Unit
from loadrig.words.change import AFTER, BEFORE
from loadrig.words.corpus import Hit
from loadrig.words.errors import FleetError
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
        """The retriever's hits, best first, and how long it computed. Raises `FleetError` when the process is gone."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._pool, _search, retriever, query, k, caller, unit)
        except BrokenProcessPool as error:
            raise FleetError(DIED) from error

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
    _indexes.update((name, (version, one)) for name, one in open_indexes(Path(folder), of).items())
    return time.perf_counter_ns() - begin_ns


def _ready() -> bool:
    return True


def _search(retriever: str, query: str, k: int, caller: tuple[str, ...], unit: Unit) -> Found:
    begin_ns = time.perf_counter_ns()
    version, index = _indexes[retriever]
    hits = index.search(query, k, caller, unit=unit)
    return Found(hits, time.perf_counter_ns() - begin_ns, version)
