"""A link: what a connection needs of its socket, and what it hears from it; and the link that the event loop makes.

Rules: a link hands over each read with its stamp and, where the kernel gave the stamp, with how much later the read
was (`lag_ns`; None: the stamp is the read's own). `ended` comes at most once, `closed` exactly once, after the socket
is gone. `receiving.SocketLink` is the other link, with the kernel's stamps. Knows no HTTP.
"""

from __future__ import annotations

import asyncio
from typing import Protocol, cast

from loadrig.words.clock import Clock

CLOSED = "closed by the server"


class Link(Protocol):
    """An open connection's socket. `unsent`: something that was written has not left for the kernel yet.

    `reordered` counts segments that have come out of order so far (0 where that is not known): behind one of those
    the kernel's stamp can be too early.
    """

    @property
    def unsent(self) -> bool: ...
    @property
    def is_closing(self) -> bool: ...
    @property
    def reordered(self) -> int: ...
    def fileno(self) -> int: ...
    def write(self, data: bytes) -> None: ...
    def abort(self) -> None: ...


class Sink(Protocol):
    """Who a link reports to. `drained`: all that `write` could not send at once has left."""

    def opened(self, link: Link) -> None: ...
    def received(self, data: bytes | memoryview, at_ns: int, lag_ns: int | None = None) -> None: ...
    def drained(self) -> None: ...
    def ended(self, how: str) -> None: ...
    def closed(self, how: str) -> None: ...


class LoopLink(asyncio.Protocol):
    """The event loop's own transport, plain or TLS. Its stamp is taken first of all in `data_received`.

    Under TLS up to one transport buffer (64 KiB) may still lie below an empty write buffer.
    """

    reordered = 0

    def __init__(self, sink: Sink, clock: Clock) -> None:
        self._sink = sink
        self._now_ns = clock.now_ns
        self._transport: asyncio.Transport

    @property
    def unsent(self) -> bool:
        return self._transport.get_write_buffer_size() > 0

    @property
    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def fileno(self) -> int:
        return cast("int", self._transport.get_extra_info("socket").fileno())

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def abort(self) -> None:
        self._transport.abort()

    # What follows is called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=1, low=0)  # so that resume_writing means "all written"
        self._sink.opened(self)

    def data_received(self, data: bytes) -> None:
        self._sink.received(data, self._now_ns())

    def resume_writing(self) -> None:
        self._sink.drained()

    def eof_received(self) -> None:
        self._sink.ended(CLOSED)

    def connection_lost(self, exc: Exception | None) -> None:
        self._sink.closed("closed" if exc is None else f"{type(exc).__name__}: {exc}")
