"""A watchdog: one timer of the event loop that looks after everything with a limit.

Why: a timer each, for every exchange and every trial, costs as much as all that is done with a dozen events. Rules: who
is watched says when to be looked at next; nobody is looked at later than that, and a look may come early. The timer is
moved only when somebody new has to be looked at before it goes off. Knows no limit.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from loadrig.words.clock import Clock


class Watched(Protocol):
    """Hashed by identity."""

    def look(self, now_ns: int) -> int | None:
        """Does what is due. Returns the instant to look again, None: never."""
        ...


class Watchdog:
    """Belongs to the running loop; after `close` nobody is looked at any more."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._watched: set[Watched] = set()
        self._handle: asyncio.TimerHandle | None = None
        self._wakes_ns = 0  # while there is a handle

    def add(self, one: Watched, due_ns: int) -> None:
        """Looks after `one`, first at `due_ns`."""
        self._watched.add(one)
        if self._handle is None or due_ns < self._wakes_ns:
            self._wake(due_ns)

    def discard(self, one: Watched) -> None:
        self._watched.discard(one)

    def close(self) -> None:
        self._watched.clear()
        if self._handle is not None:
            self._handle.cancel()

    def _wake(self, due_ns: int) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._wakes_ns = due_ns
        self._handle = self._loop.call_later(max(0, due_ns - self._clock.now_ns()) / 1e9, self._look)

    def _look(self) -> None:
        self._handle = None
        now_ns = self._clock.now_ns()
        dues_ns = []
        for one in tuple(self._watched):
            if (due_ns := one.look(now_ns)) is None:
                self._watched.discard(one)
            else:
                dues_ns.append(due_ns)
        if dues_ns:
            self._wake(min(dues_ns))
