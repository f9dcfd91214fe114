"""The reader as a process of its own, and the server's end of the pipe to it.

Why: reading a prompt of a megabyte takes far longer than the few milliseconds the streams of other requests can
wait, and a thread would hold the interpreter's lock. The process ends when its standard input closes, so it cannot
outlive the server. Messages are length-prefixed MessagePack, answered in order.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from typing import BinaryIO

import msgspec

from loadrig.simulator.reading import is_cheap, read
from loadrig.simulator.reply import Reading
from loadrig.simulator.scenario import Scenario

LARGE_BYTES = 100_000


class _Task(msgspec.Struct, frozen=True, array_like=True):
    attempt: str
    body: bytes
    dialect: str


def _framed(value: object) -> bytes:
    data = msgspec.msgpack.encode(value)
    return len(data).to_bytes(4, "big") + data


class ReaderDiedError(Exception):
    """The reader's process ended while the server still needed it."""


class _Lane:
    """One reader process and the readings asked of it, oldest first."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._waiting: deque[asyncio.Future[Reading]] = deque()
        self._listener = asyncio.get_running_loop().create_task(self._listen())

    async def ask(self, body: bytes, attempt: str, dialect: str) -> Reading:
        if self._process.stdin is None or self._listener.done():
            raise ReaderDiedError("the reader's process has ended")
        future: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._process.stdin.write(_framed(_Task(attempt, body, dialect)))
        return await future

    async def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            while True:
                size = int.from_bytes(await stdout.readexactly(4), "big")
                reading = msgspec.msgpack.decode(await stdout.readexactly(size), type=Reading)
                future = self._waiting.popleft()
                if not future.done():
                    future.set_result(reading)
        except asyncio.IncompleteReadError:
            for future in self._waiting:
                if not future.done():
                    future.set_exception(ReaderDiedError("the reader's process has ended"))

    async def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        await self._listener


class Readers:
    """Reads bodies: at once when that is cheap, else in a process; large ones have a process of their own, so that
    the first sight of a whole corpus does not hold up the small ones."""

    def __init__(self, scenario: Scenario, small: _Lane, large: _Lane) -> None:
        self._scenario = scenario
        self._small = small
        self._large = large

    @classmethod
    async def start(cls, scenario: Scenario) -> Readers:
        return cls(scenario, await _lane(scenario), await _lane(scenario))

    async def read(self, body: bytes, attempt: str, dialect: str) -> Reading:
        """Raises ReaderDiedError."""
        if is_cheap(body, self._scenario):
            return read(body, attempt, self._scenario, dialect)
        lane = self._large if len(body) > LARGE_BYTES else self._small
        return await lane.ask(body, attempt, dialect)

    async def close(self) -> None:
        await self._small.close()
        await self._large.close()


async def _lane(scenario: Scenario) -> _Lane:
    command = (sys.executable, "-m", "loadrig.simulator.reader_process")
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    process.stdin.write(_framed(scenario))
    return _Lane(process)


def _receive(source: BinaryIO) -> bytes | None:
    head = source.read(4)
    return source.read(int.from_bytes(head, "big")) if len(head) == 4 else None


def main() -> None:
    """Read tasks from standard input until it closes; write readings to standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the server closes our input
    os.nice(5)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    first = _receive(source)
    if first is None:
        return
    scenario = msgspec.msgpack.decode(first, type=Scenario)
    while (data := _receive(source)) is not None:
        task = msgspec.msgpack.decode(data, type=_Task)
        sink.write(_framed(read(task.body, task.attempt, scenario, task.dialect)))
        sink.flush()


if __name__ == "__main__":
    main()
