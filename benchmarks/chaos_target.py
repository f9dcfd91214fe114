"""A Messages endpoint in the process of the chaos test: answers in 40 to 160 ms, can be cut off and come back, and
remembers, by `x-loadrig-attempt`, every request it began and every answer it finished.

It shares no code with the client: bytes in, known bytes out.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections import Counter

from loadrig.simulator.null.transcript import pieces

_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
_ATTEMPT = re.compile(rb"\r\nx-loadrig-attempt:[ \t]*([^\r]*)", re.IGNORECASE)
_PORTS = range(20_000, 32_000)  # from these the system gives a client none, so that ours is free when we come back
_COUNTED = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 19\r\n\r\n{"input_tokens": 50}'
_ANSWER = b"".join(pieces(12, "claude-haiku-5-5"))


class Target:
    """Listens on one port of loopback from `open` to `cut`, as often as one likes."""

    def __init__(self, seed: str) -> None:
        self.port = 0
        self.begun: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()
        self.spans: dict[str, tuple[int, int]] = {}  # of finished answers, by CLOCK_MONOTONIC
        self._random = random.Random(seed)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        """From now on connections are taken, on the port of the first time. Harmless when they are already."""
        if self._server is not None:
            return
        for port in [self.port] if self.port else random.sample(_PORTS, 100):
            with contextlib.suppress(OSError):
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, reuse_address=True)
                self.port = port
                return
        raise OSError(f"no port is free, {self.port} is not any more")

    async def cut(self) -> None:
        """As though the process had been killed: nobody listens, every connection is broken off."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._open:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = _LENGTH.search(head)
                await reader.readexactly(int(found[1]) if found else 0)
                await self._answer(head, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):  # the last: at the end of a run
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> None:
        if b"count_tokens" in head.split(b"\r\n", 1)[0]:
            writer.write(_COUNTED)
            return
        attempt = _ATTEMPT.search(head)
        name = "" if attempt is None else attempt[1].decode()
        self.begun[name] += 1
        began_ns = time.monotonic_ns()
        await asyncio.sleep(self._random.uniform(0.04, 0.16))
        writer.write(_ANSWER)
        await writer.drain()
        if not writer.is_closing():
            self.finished[name] += 1
            self.spans[name] = (began_ns, time.monotonic_ns())
