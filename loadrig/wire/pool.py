"""Idle connections by route (target, and proxy on the way). No cap: the number in flight is the load's to decide,
never a queue in here.

Rules: the one used last is taken first. A dead one is found before use and thrown away; one that idled long is too,
because a router on the way may have forgotten it without a word.
"""

from __future__ import annotations

from loadrig.wire.connection import Connection
from loadrig.wire.head import Route
from loadrig.words.clock import Clock

_LONGEST_IDLE_NS = 55 * 1_000_000_000


class Pool:
    """Knows every open connection, busy or idle, so that all can be closed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._idle: dict[Route, list[Connection]] = {}
        self._open: set[Connection] = set()

    def make(self, route: Route) -> Connection:
        """A protocol for a connection about to be opened."""
        return Connection(route, self._clock, self)

    def opened(self, connection: Connection) -> None:
        self._open.add(connection)

    def take(self, route: Route) -> Connection | None:
        """An idle connection that seems alive, or None."""
        kept = self._idle.get(route, [])
        oldest_ns = self._clock.now_ns() - _LONGEST_IDLE_NS
        while kept:
            connection = kept.pop()
            if connection.idle_since_ns >= oldest_ns and connection.is_usable:
                return connection
            connection.abort()
        return None

    def idle(self, connection: Connection) -> None:
        connection.idle_since_ns = self._clock.now_ns()
        self._idle.setdefault(connection.route, []).append(connection)

    def lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        kept = self._idle.get(connection.route, [])
        if connection in kept:
            kept.remove(connection)

    async def close(self) -> None:
        """Closes every connection and waits until their sockets are gone."""
        for connection in tuple(self._open):
            connection.abort()
            await connection.lost

    def __len__(self) -> int:
        return len(self._open)
