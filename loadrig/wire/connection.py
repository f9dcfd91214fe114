"""One HTTP/1.1 connection: carries one exchange at a time over its link and goes back to its pool.

Rules: bytes come stamped from the link. The body is written in its fragments, small ones joined, large ones never. The
upload is done when nothing written is left with us. A reply ends with its own last event; the end of its HTTP message,
often a packet behind, is waited for a moment so that the next turn finds this connection free, and drained for a second
at most, after which the connection is closed rather than reused.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Iterable, Iterator
from typing import Protocol

from loadrig.wire.exchange import Exchange
from loadrig.wire.head import Route
from loadrig.wire.link import Link
from loadrig.words.clock import Clock

_MOMENT_S = 0.02
_DRAIN_S = 1.0
_JOIN_BELOW = 65_536


class Keeper(Protocol):
    """Who is told about a connection: open, free for another exchange, gone with its socket."""

    def opened(self, connection: Connection) -> None: ...
    def idle(self, connection: Connection) -> None: ...
    def lost(self, connection: Connection) -> None: ...


class Connection:
    """A `Sink` for its link; `lost` is done once its socket is closed."""

    def __init__(self, route: Route, clock: Clock, keeper: Keeper) -> None:
        self.route = route
        self.idle_since_ns = 0
        self.lost = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._keeper = keeper
        self._link: Link | None = None
        self._exchange: Exchange | None = None
        self._drain: asyncio.TimerHandle | None = None
        self._poll = select.poll()
        self._reordered = self._reordered_before = 0  # until the latest look, until the exchange before

    def start(self, exchange: Exchange) -> None:
        """Sends the request; the exchange's `done` future tells when it is over."""
        link = self._link
        exchange.sent_ns = self._clock.now_ns()
        if link is None or link.is_closing:
            exchange.gone("connection closed", exchange.sent_ns)
            return
        self._exchange = exchange
        self._reordered_before = self._reordered
        request = exchange.request
        length = sum(map(len, request.fragments))
        parts = (request.head.opening(request.label, length), *request.fragments)
        for part in _portions(parts) if length >= _JOIN_BELOW else (b"".join(parts),):
            link.write(part)
        if not link.unsent:
            exchange.uploaded_ns = self._clock.now_ns()

    def abort(self) -> None:
        """Closes at once; what is in flight on it ends. May be called twice."""
        if self._link is not None:
            self._link.abort()

    def reordered_in(self, exchange: Exchange) -> int:
        """Segments received out of order in `exchange`, the present one here or one that has been: whoever waited for
        it may go on only when the connection already serves the next."""
        if self._exchange is exchange:
            self._note_reordered(exchange)
        return exchange.reordered

    def _note_reordered(self, exchange: Exchange) -> None:
        if self._link is not None:
            self._reordered = self._link.reordered
            exchange.reordered = self._reordered - self._reordered_before

    @property
    def is_usable(self) -> bool:
        """False for a dead one: closing, or readable while idle, which means closed by the peer (or noise)."""
        link = self._link
        if link is None or link.is_closing:
            return False
        return not self._poll.poll(0)

    # What follows is called by the link.

    def opened(self, link: Link) -> None:
        self._link, self._reordered = link, link.reordered
        self._poll.register(link.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        self._keeper.opened(self)

    def received(self, data: bytes | memoryview, at_ns: int, lag_ns: int | None = None) -> None:
        exchange = self._exchange
        if exchange is None:  # nobody asked
            self.abort()
            return
        exchange.received(data, at_ns, lag_ns)
        if exchange.message_done:
            self._settle(exchange)
        elif exchange.over and self._drain is None:
            self._drain = asyncio.get_running_loop().call_later(_MOMENT_S, self._let_go, exchange)

    def drained(self) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.uploaded_ns is None and not exchange.over:
            exchange.uploaded_ns = self._clock.now_ns()

    def ended(self, how: str) -> None:
        self._gone(how)
        self.abort()

    def closed(self, how: str) -> None:
        self._gone(how)
        if self._drain is not None:
            self._drain.cancel()
        self._keeper.lost(self)
        if not self.lost.done():
            self.lost.set_result(None)

    def _gone(self, how: str) -> None:
        """Tells the exchange, once: it may by then be on another connection."""
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            self._note_reordered(exchange)
            exchange.gone(how, self._clock.now_ns())

    def _let_go(self, exchange: Exchange) -> None:
        exchange.release()
        self._drain = asyncio.get_running_loop().call_later(_DRAIN_S, self.abort)

    def _settle(self, exchange: Exchange) -> None:
        """The HTTP message has ended: back to the pool, unless something speaks against it."""
        self._note_reordered(exchange)
        self._exchange = None
        if self._drain is not None:
            self._drain.cancel()
            self._drain = None
        if exchange.reusable and exchange.failure is None and exchange.uploaded_ns is not None:
            self._keeper.idle(self)
        else:
            self.abort()
        exchange.release()


def _portions(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Runs of small parts joined into one write each, large parts as they are: no copy of a large text."""
    small: list[bytes] = []
    size = 0
    for part in parts:
        if len(part) >= _JOIN_BELOW or size + len(part) > _JOIN_BELOW:
            if small:
                yield b"".join(small)
            small, size = [], 0
        if len(part) >= _JOIN_BELOW:
            yield part
        else:
            small.append(part)
            size += len(part)
    if small:
        yield b"".join(small)
