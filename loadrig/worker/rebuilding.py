"""Indexes over a corpus that has changed, built in a process of their own: each once on a machine, by whoever is first.

The library's folder is shared by the workers of a machine, and so is what is built: who comes second waits for the
first, by a lock that the kernel lets go of if that one dies, and then finds the work done. Indexes are built one after
the other, and told of one by one, so that a quick one does not wait for a slow one. What cannot be built is told, and
nobody tries again. The process ends with its worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import msgspec

from loadrig.corpus.updating import updated
from loadrig.retrievers import needed
from loadrig.words.change import Reindexed
from loadrig.words.corpus import Corpus
from loadrig.words.errors import InputError, LoadrigError, described
from loadrig.worker.library import Texts, build_indexes, open_indexes, open_texts, save_indexes

DONE = "done.json"


class Rebuilding:
    """A process that builds; `built` waits for the next index it tells of."""

    def __init__(self, process: SpawnProcess, told: Connection) -> None:
        self._process, self._told = process, told

    async def built(self) -> tuple[str, Reindexed]:
        """A retriever and its new index. Raises `EOFError` when the process is gone."""
        name, one = await asyncio.to_thread(self._told.recv)
        return name, one

    async def exit_code(self) -> int | None:
        """How it ended."""
        await asyncio.to_thread(self._process.join)
        return self._process.exitcode


@asynccontextmanager
async def rebuilding(folder: Path) -> AsyncIterator[Rebuilding]:
    """The process, started off this loop, and ended on leaving."""
    context = multiprocessing.get_context("spawn")
    told, telling = context.Pipe(duplex=False)
    process = context.Process(target=_rebuild, args=(str(folder), telling), daemon=True)
    starting = asyncio.create_task(asyncio.to_thread(process.start))  # owned here: awaited below, whatever happens
    try:
        await asyncio.shield(starting)
        telling.close()
        yield Rebuilding(process, told)
    finally:
        await asyncio.wait({starting})
        telling.close()
        if process.pid is not None:
            process.kill()
            await asyncio.to_thread(process.join)


def end_with_parent() -> None:
    """A worker that is killed cannot end its processes; they must not outlive it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def name_of(number: int) -> str:
    """What the names of the files begin with that hold a new index, by its number in the library's list."""
    return f"new-{number}-"


def _rebuild(folder: str, telling: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to answer
    threading.Thread(target=end_with_parent, daemon=True).start()
    texts = open_texts(Path(folder))
    assert texts.update is not None, "only a library with an update is rebuilt"
    corpus = updated(texts.corpus, texts.update)
    with contextlib.suppress(BrokenPipeError):  # nobody waits any more
        for number, name in enumerate(texts.rebuilt):
            telling.send((name, build_once(Path(folder), number, texts, corpus)))


def build_once(folder: Path, number: int, texts: Texts, corpus: Corpus) -> Reindexed:
    """Builds the new index of a retriever, by its number in the library's list, unless it has been; how long that took
    by itself, whoever did it, or why there is none. What it searches through is not built a second time."""
    of, name = name_of(number), texts.rebuilt[number]
    with (folder / f"{of}lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (done := _done(folder, number)) is not None:
            return done
        try:
            parts = needed([name], {one.name: one.options for one in texts.given})
            have = {
                part: open_indexes(folder, name_of(place))[part]
                for place, part in enumerate(texts.rebuilt[:number])
                if part in parts and (before := _done(folder, place)) is not None and before.failure is None
            }
            built, took_ns = build_indexes({name}, corpus, given=texts.given, have=have)
            save_indexes(folder, {name: built[name]}, of)
            told = Reindexed(build_ns=took_ns[name])
        except (LoadrigError, OSError) as error:
            told = Reindexed(failure=error.problem if isinstance(error, InputError) else described(error))
        partial = folder / f"{of}told.tmp"
        partial.write_bytes(msgspec.json.encode(told))
        partial.rename(folder / f"{of}{DONE}")
        return told


def _done(folder: Path, number: int) -> Reindexed | None:
    """What was told of an index that has been built, or could not be."""
    path = folder / f"{name_of(number)}{DONE}"
    return msgspec.json.decode(path.read_bytes(), type=Reindexed) if path.exists() else None
