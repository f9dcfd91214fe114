"""A server that lets in whoever has one of the tokens it accepts just now, and refuses everybody else with 401.

It does not count tokens. Runs in the test's own loop; knows nothing of loadrig.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from stream_events import reply

REFUSAL = b'{"type":"error","error":{"type":"authentication_error","message":"invalid key"}}'
OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"
NO = b"HTTP/1.1 401 No\r\ncontent-length: %d\r\n\r\n%b"


@dataclass
class Doorkeeper:
    """`tokens` of all messages in order, and those it `accepts`; the test may change that at any time."""

    accepts: set[str]
    tokens: list[str] = field(default_factory=list)
    port: int = 0
    says: bytes = field(default_factory=reply)
    then: Callable[[int], None] | None = None  # called with the number of each request, before it is answered

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                await reader.readexactly(int(found[1]) if found else 0)
                if b"/count_tokens " in head:
                    writer.write(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n")
                    continue
                bearer = re.search(rb"authorization: bearer (\S+)", head, re.IGNORECASE)
                self.tokens.append(bearer[1].decode() if bearer else "")
                if self.then is not None:
                    self.then(len(self.tokens))
                whole = OK % (len(self.says), self.says)
                writer.write(whole if self.tokens[-1] in self.accepts else NO % (len(REFUSAL), REFUSAL))
                await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def doorkeeper(*accepts: str, says: bytes | None = None) -> AsyncIterator[Doorkeeper]:
    """Listening on a loopback port of its own until the block ends."""
    keeper = Doorkeeper(set(accepts), says=says or reply())
    listener = await asyncio.start_server(keeper.serve, "127.0.0.1", 0)
    keeper.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield keeper
