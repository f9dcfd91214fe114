"""Workers as plain processes of this machine, each joined to the driver by a socket of their own. No port, no Ray.

Rules: a worker's process ends with this one, whatever happens to either; one that is given up is killed, and waited for
until it is gone, before its count of begun trials is read. A key reaches it by the socket alone: not by its command
line, not by a file.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import IO

from loadrig.fleet.child import COUNTER
from loadrig.fleet.frames import Answer, Asked, Broken, Ready, Start, frame, read, said_decoder
from loadrig.fleet.handle import Handle, wait_ready
from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order
from loadrig.worker.setup import Setup

CLOSE_LIMIT_S = 5.0
KILL_LIMIT_S = 2.0
_CHILD = "from loadrig.fleet.child import main; main()"


@asynccontextmanager
async def process_fleet(setups: Sequence[Setup]) -> AsyncIterator[list[Handle]]:
    """One process a setup, all started without waiting in between; on leaving, all of them are gone."""
    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(_started(setup)) for setup in setups]
        for worker in workers:
            await wait_ready(worker.ready.wait(), worker.running)
        try:
            yield [Handle(one.name, one.pid, one.exchange, one.running, one.end) for one in workers]
        finally:
            for worker in workers:  # all at once; each is then waited for
                worker.hang_up()


@asynccontextmanager
async def _started(setup: Setup) -> AsyncIterator[_Process]:
    begun = setup.library / f"begun-{setup.worker}"
    begun.write_bytes(COUNTER.pack(0))
    ours, theirs = socket.socketpair()
    with theirs, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603, ASYNC220 - ourselves; returns as soon as it is forked
            [sys.executable, "-c", _CHILD, str(theirs.fileno()), str(os.getpid())],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
            pass_fds=[theirs.fileno()], start_new_session=True,
        )  # fmt: skip
        theirs.close()
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        worker = _Process(setup, process, (reader, writer), begun, said)
        try:
            writer.write(frame(Start(tuple(sys.path), pickle.dumps(setup), str(begun))))
            yield worker
        finally:
            await worker.close()


class _Process:
    """A worker's process as the driver knows it. `running` ends with the error that ended the process."""

    def __init__(
        self,
        setup: Setup,
        process: subprocess.Popen[bytes],
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        begun: Path,
        said: IO[bytes],
    ) -> None:
        self.name, self.pid = setup.worker, process.pid
        self.ready = asyncio.Event()
        self._process, self._begun, self._said = process, begun, said
        self._reader, self._writer = streams
        self._answers: dict[int, asyncio.Future[Batch]] = {}
        self._asked = 0
        self.running = asyncio.create_task(self._listen())  # owned here: awaited in `close`

    async def exchange(self, order: Order) -> Batch:
        """The batch that answers the order; an answer to one that nobody waits for any more is dropped."""
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[Batch] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            self._writer.write(frame(Asked(number, order)))
            return await answer
        finally:
            del self._answers[number]

    def end(self) -> int | None:
        """Kills the process; how many trials it began, None when it does not die."""
        self._process.kill()
        try:
            self._process.wait(KILL_LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        return int(COUNTER.unpack(self._begun.read_bytes())[0])

    def hang_up(self) -> None:
        """Tells the process to end."""
        self._writer.close()

    async def close(self) -> None:
        """Ends the process, in good order if it goes of itself. `running` is over when it returns, or is cancelled."""
        self.hang_up()
        try:
            await asyncio.to_thread(self._gone)
        finally:
            self.running.cancel()
            await asyncio.gather(self.running, return_exceptions=True)  # what ended it was told in its exchange

    def _gone(self) -> int:
        """Its exit status."""
        try:
            return self._process.wait(CLOSE_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    async def _listen(self) -> None:
        while (payload := await read(self._reader)) is not None:
            match said_decoder.decode(payload):
                case Ready():
                    self.ready.set()
                case Answer(number, batch):
                    if number in self._answers and not self._answers[number].done():
                        self._answers[number].set_result(batch)
                case Broken(detail):
                    raise FleetError(f"worker {self.name} broke down: {detail}")
        status = await asyncio.to_thread(self._gone)
        raise FleetError(f"worker {self.name} (pid {self.pid}) {self._end_in_words(status)}")

    def _end_in_words(self, status: int) -> str:
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
        return f"ended with exit code {status}: {last}"
