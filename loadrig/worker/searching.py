"""Searching off the event loop and off its GIL: one process a worker that holds the indexes.

A thread would not do: BM25 in Python holds the interpreter for tens of milliseconds a query, and every stream of
the worker would be stamped late. The process is started before the first trial and ends with the worker.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from loadrig.retrievers import Retriever
from loadrig.words.arm import Unit
from loadrig.words.corpus import Hit
from loadrig.words.errors import FleetError
from loadrig.worker.library import open_indexes

_indexes: dict[str, Retriever] = {}  # of the search process, filled once by its initializer


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, and the nanoseconds of computing for them; what a search took beyond that it waited."""

    hits: tuple[Hit, ...]
    compute_ns: int


class Searching:
    """`async with` starts the search process; `search` asks it. Queries wait for each other: one process."""

    def __init__(self, folder: Path) -> None:
        self._pool = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_open, initargs=(str(folder),)
        )

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
            raise FleetError("the search process of this worker died") from error


def _open(folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _indexes.update(open_indexes(Path(folder)))


def _end_with_parent() -> None:
    """A worker that is killed cannot close its pool; its search process must not outlive it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ready() -> bool:
    return True


def _search(retriever: str, query: str, k: int, caller: tuple[str, ...], unit: Unit) -> Found:
    begin_ns = time.perf_counter_ns()
    hits = _indexes[retriever].search(query, k, caller, unit=unit)
    return Found(hits, time.perf_counter_ns() - begin_ns)
