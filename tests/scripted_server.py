"""A server that sends given bytes at given milliseconds after it has read a request, and stamps each send.

A script is a list of steps `(at_ms, bytes)`; what follows the last one is `end`: keep the connection, close it, reset
it, or hold it open in silence. Requests are answered by the scripts in turn, the last one again and again. Knows
nothing of loadrig; runs in the test's own loop, so its stamps are on the client's clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

Step = tuple[float, bytes]

OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


@dataclass(frozen=True)
class Script:
    """`head` goes out with the first step."""

    steps: Sequence[Step]
    head: bytes = OK
    end: Literal["keep", "close", "reset", "hold"] = "keep"
    chunked: bool = True


@dataclass
class Server:
    """What a test looks at: `requests` as raw bytes, `sent_ns` of every step of every answered request."""

    scripts: Sequence[Script]
    port: int = 0
    scheme: str = "http"
    requests: list[bytes] = field(default_factory=list)
    sent_ns: list[list[int]] = field(default_factory=list)
    peers: set[tuple[str, int]] = field(default_factory=set)
    closed: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def step_of(self, stamp_ns: int | None, request: int = -1) -> int | None:
        """Number (from 0) of the latest step sent before `stamp_ns`; None for no stamp."""
        if stamp_ns is None:
            return None
        return sum(sent <= stamp_ns for sent in self.sent_ns[request]) - 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.add(writer.get_extra_info("peername")[:2])
        try:
            while (request := await _request(reader)) is not None:
                script = self.scripts[min(len(self.requests), len(self.scripts) - 1)]
                self.requests.append(request)
                if not await self._play(script, reader, writer):
                    return
        except (ConnectionError, TimeoutError, ssl.SSLError):
            pass
        finally:
            self.closed += 1
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
                await writer.wait_closed()

    async def _play(self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        loop = asyncio.get_running_loop()
        begin, stamps, head = loop.time(), [], script.head
        self.sent_ns.append(stamps)
        for at_ms, data in script.steps:
            await asyncio.sleep(begin + at_ms / 1000 - loop.time())
            stamps.append(time.perf_counter_ns())
            writer.write(head + (_chunk(data) if script.chunked and data else data))
            head = b""
            await writer.drain()
        if script.end == "keep":
            writer.write(LAST_CHUNK if script.chunked else b"")
            return True
        if script.end == "hold":
            await reader.read()
        if script.end == "reset":
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False


@contextlib.asynccontextmanager
async def serving(*scripts: Script, context: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """The server, listening on a loopback port of its own, until the block ends."""
    server = Server(scripts, scheme="http" if context is None else "https")
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(server.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context, limit=2**24)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> bytes | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    lines = head.lower().split(b"\r\n")
    length = next((int(line[15:]) for line in lines if line.startswith(b"content-length:")), 0)
    return head + await reader.readexactly(length)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)
