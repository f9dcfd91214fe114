"""A worker in a process of its own: reads orders from the driver's socket, answers each with a batch, one at a time.

Rules: it ends when the driver does, however that ends: by the closed socket, and on Linux by a signal that the kernel
sends even to a process that hangs. Nothing is printed: once it runs, what foreign code writes goes nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import mmap
import os
import pickle
import signal
import socket
import struct
import sys
from pathlib import Path

import uvloop

from loadrig.fleet.frames import Answer, Broken, Ready, asked_decoder, frame, read, start_decoder
from loadrig.words.errors import described
from loadrig.worker.setup import Setup
from loadrig.worker.worker import Worker

COUNTER = struct.Struct("<q")
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serves until the driver closes the socket, whose descriptor is the first argument; the second is its pid."""
    descriptor, driver = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(descriptor, False)
    _end_with(driver)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(socket.socket(fileno=descriptor)))


def _end_with(driver: int) -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != driver:  # it died before we could say so
        os._exit(1)


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_unix_connection(sock=connection)
    try:
        payload = await read(reader)
        if payload is None:
            return
        start = start_decoder.decode(payload)
        sys.path[:] = start.paths
        setup: Setup = pickle.loads(start.setup)  # noqa: S301 - from the process that started this one
        await _work(Worker(setup, begins=_counter(Path(start.begun))), reader, writer)
    except Exception as error:  # noqa: BLE001 - whatever broke it, the driver is told
        with contextlib.suppress(ConnectionError):
            writer.write(frame(Broken(described(error))))
            await writer.drain()
    finally:
        writer.close()


async def _work(worker: Worker, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        await worker.wait_ready()
        _be_silent()
        writer.write(frame(Ready()))
        with contextlib.suppress(ConnectionError):  # the driver is gone
            while (payload := await read(reader)) is not None:
                asked = asked_decoder.decode(payload)
                writer.write(frame(Answer(asked.number, await worker.exchange(asked.order))))
                await writer.drain()
        worker.close()


def _be_silent() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


class _counter:  # noqa: N801 - a function with a memory
    """Counts in a file that both processes have mapped, so that the count outlives this one, however it ends."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._shared = mmap.mmap(file.fileno(), COUNTER.size)
        self._count = 0

    def __call__(self) -> None:
        self._count += 1
        COUNTER.pack_into(self._shared, 0, self._count)
