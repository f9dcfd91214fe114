"""The engine: carries exchanges over pooled connections, on asyncio's loop or uvloop.

Rules: no exchange waits for another. An idle connection that turns out to be closed before the first byte of a reply
is replaced once, and noted. Stopping ends what is in flight as data; cancelling a task closes its connection. When
the engine is closed no socket, timer or task of it is left.
"""

from __future__ import annotations

import asyncio
from functools import partial

from loadrig.wire.connection import Connection
from loadrig.wire.dial import Dialer
from loadrig.wire.exchange import Exchange
from loadrig.wire.limits import Watch, timeout
from loadrig.wire.pool import Pool
from loadrig.wire.turnstile import Turnstile
from loadrig.wire.watchdog import Watchdog
from loadrig.words.clock import Clock
from loadrig.words.record import Failure, Stamp
from loadrig.words.settings import LimitSettings

_STOPPED = Failure("cancelled", "the run was stopped")


class Engine:
    """One a worker; use as an async context manager. `ca_file`: further certificates to trust (PEM). Its `watchdog` is
    there for other limits, too.

    `stamps`: "kernel" takes the kernel's receive stamps where the platform has them, "read" the reads' own everywhere.
    """

    def __init__(self, clock: Clock, *, ca_file: str | None = None, stamps: Stamp = "kernel") -> None:
        self.clock = clock
        self._pool = Pool(clock)
        self._dialer = Dialer(clock, ca_file, stamps)
        self._running: set[Exchange] = set()
        self._stopped = asyncio.Event()
        self._turnstile: Turnstile
        self.watchdog: Watchdog

    async def __aenter__(self) -> Engine:
        self._turnstile, self.watchdog = Turnstile(lambda: self._dialer.is_behind), Watchdog(self.clock)
        self._dialer.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def run(self, exchange: Exchange, limits: LimitSettings, *, deadline_ns: int | None = None) -> None:
        """Carries out one exchange; when it returns, the exchange is over. Raises only when it is cancelled."""
        exchange.begin_ns = self.clock.now_ns()
        if self._stopped.is_set():
            exchange.fail(_STOPPED, exchange.begin_ns)
            return
        self._running.add(exchange)
        try:
            connection = self._pool.take(exchange.request.head.route)
            exchange.reused = connection is not None
            await self._carry(exchange, connection, limits, deadline_ns=deadline_ns)
            if exchange.reused and exchange.unanswered:
                exchange.again("an idle connection was closed when used: sent again on a fresh one")
                if self._stopped.is_set():
                    exchange.fail(_STOPPED, self.clock.now_ns())
                    return
                await self._carry(exchange, None, limits, deadline_ns=deadline_ns)
        finally:
            self._running.discard(exchange)

    async def pause(self, wait_ns: int) -> bool:
        """Waits, between attempts; False when the engine was stopped meanwhile."""
        try:
            async with asyncio.timeout(wait_ns / 1e9):
                await self._stopped.wait()
        except TimeoutError:
            return True
        return False

    def stop(self) -> None:
        """Ends every exchange as failed/cancelled, as data, and lets no further one out."""
        self._stopped.set()
        for exchange in tuple(self._running):
            exchange.fail(_STOPPED, self.clock.now_ns())
            if exchange.connecting is not None and not exchange.connecting.expired():
                exchange.connecting.reschedule(asyncio.get_running_loop().time())

    async def close(self) -> None:
        self.stop()
        await self._pool.close()
        self._dialer.close()
        self.watchdog.close()

    @property
    def open_connections(self) -> int:
        """Busy and idle ones."""
        return len(self._pool)

    async def _carry(
        self, exchange: Exchange, connection: Connection | None, limits: LimitSettings, *, deadline_ns: int | None
    ) -> None:
        if connection is None:
            connection = await self._connect(exchange, limits, deadline_ns)
        if connection is None:
            return
        if exchange.over:  # stopped while it was being connected
            connection.abort()
            return
        done = asyncio.get_running_loop().create_future()
        exchange.let_go = partial(self._turnstile.let, done)
        watch = Watch(exchange, limits, deadline_ns, now_ns=self.clock.now_ns())
        self.watchdog.add(watch, watch.due_ns)
        try:
            connection.start(exchange)
            await done
        finally:
            self.watchdog.discard(watch)
            exchange.settle_stamps(reordered=connection.reordered_in(exchange))
            if not exchange.is_clean:
                connection.abort()

    async def _connect(self, exchange: Exchange, limits: LimitSettings, deadline_ns: int | None) -> Connection | None:
        limit_s, phase = limits.connect, "connect"
        if deadline_ns is not None and (left_s := (deadline_ns - self.clock.now_ns()) / 1e9) < limit_s:
            limit_s, phase = left_s, "total"
        make = partial(self._pool.make, exchange.request.head.route)
        return await self._dialer.connect(exchange, make, limit_s=limit_s, late=timeout(phase, limits))
