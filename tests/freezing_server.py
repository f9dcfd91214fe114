"""A server that answers every request after a set time, counts how many it has at once, and can freeze.

It runs in a thread and a loop of its own, so that the client's lateness is not its own. While it is frozen it takes no
request up and gives no answer; what came meanwhile begins when it thaws. Knows nothing of loadrig.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from scripted_server import OK, _chunk, _request
from stream_events import reply

ANSWER = OK + _chunk(reply()) + b"0\r\n\r\n"


@dataclass
class Freezing:
    """`took_s` says how long the n-th request takes (from 0). Frozen from `frozen_s[0]` to `frozen_s[1]` seconds after
    the first request. `most` had it at once; `thawed_ns` on the machine's clock."""

    took_s: Callable[[int], float]
    frozen_s: tuple[float, float] | None = None
    url: str = ""
    requests: int = 0
    now: int = 0
    most: int = 0
    first_ns: int = 0

    @property
    def freeze_ns(self) -> tuple[int, int]:
        begin_s, end_s = self.frozen_s or (0.0, 0.0)
        return self.first_ns + round(begin_s * 1e9), self.first_ns + round(end_s * 1e9)

    async def answer(self) -> None:
        """Returns when the request that has just come is to be answered."""
        number, self.requests = self.requests, self.requests + 1
        self.first_ns = self.first_ns or time.perf_counter_ns()
        begin_ns, end_ns = self.freeze_ns
        heard_ns = time.perf_counter_ns()
        if begin_ns <= heard_ns < end_ns:
            await asyncio.sleep((end_ns - heard_ns) / 1e9)
        await asyncio.sleep(self.took_s(number))
        if begin_ns <= time.perf_counter_ns() < end_ns:
            await asyncio.sleep((end_ns - time.perf_counter_ns()) / 1e9)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(ConnectionError):
            while await _request(reader) is not None:
                self.now += 1
                self.most = max(self.most, self.now)
                await self.answer()
                self.now -= 1
                writer.write(ANSWER)
                await writer.drain()
        writer.close()


@dataclass
class _Thread:
    server: Freezing
    ready: threading.Event = field(default_factory=threading.Event)
    loop: asyncio.AbstractEventLoop | None = None
    stop: asyncio.Event | None = None

    def run(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self.loop, self.stop = asyncio.get_running_loop(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self.server.serve(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        listener = await asyncio.start_server(accept, "127.0.0.1", 0, limit=2**24, backlog=512)
        self.server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        self.ready.set()
        await self.stop.wait()
        listener.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def freezing(took_s: Callable[[int], float], frozen_s: tuple[float, float] | None = None) -> Iterator[Freezing]:
    """The server, listening on a loopback port of its own, until the block ends."""
    held = _Thread(Freezing(took_s, frozen_s))
    thread = threading.Thread(target=held.run)
    thread.start()
    held.ready.wait(10)
    try:
        yield held.server
    finally:
        assert held.loop is not None
        assert held.stop is not None
        held.loop.call_soon_threadsafe(held.stop.set)
        thread.join()
