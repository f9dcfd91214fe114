"""Idle connections by origin. No cap: the number in flight is the load's to decide, never a queue in here.

Rules: the one used last is taken first. A dead one is found before use and thrown away; one that idled long is too,
because a router on the way may have forgotten it without a word.
"""

from __future__ import annotations

from loadrig.wire.connection import Connection
from loadrig.wire.head import Origin
from loadrig.words.clock import Clock

_LONGEST_IDLE_NS = 55 * 1_000_000_000


class Pool:
    """Knows every open connection, busy or idle, so that all can be closed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._idle: dict[Origin, list[Connection]] = {}
        self._open: set[Connection] = set()

    def make(self, origin: Origin) -> Connection:
        """A protocol for a connection about to be opened."""
        return Connection(origin, self._clock, self)

    def opened(self, connection: Connection) -> None:
        self._open.add(connection)

    def take(self, origin: Origin) -> Connection | None:
        """An idle connection that seems alive, or None."""
        kept = self._idle.get(origin, [])
        oldest_ns = self._clock.now_ns() - _LONGEST_IDLE_NS
        while kept:
            connection = kept.pop()
            if connection.idle_since_ns >= oldest_ns and connection.is_usable:
                return connection
            connection.abort()
        return None

    def idle(self, connection: Connection) -> None:
        connection.idle_since_ns = self._clock.now_ns()
        self._idle.setdefault(connection.origin, []).append(connection)

    def lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        kept = self._idle.get(connection.origin, [])
        if connection in kept:
            kept.remove(connection)

    async def close(self) -> None:
        """Closes every connection and waits until their sockets are gone."""
        for connection in tuple(self._open):
            connection.abort()
            await connection.lost

    def __len__(self) -> int:
        return len(self._open)
