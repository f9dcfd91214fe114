"""A turnstile: lets a few of those who wait go on in each turn of the event loop.

Why: streams that began together end together, and whoever is let go ends a trial and starts the next one, a hundred
microseconds of work. Hundreds of them in one turn hold every other stream, and every timer, for tens of milliseconds.
Rules: first come, first served; nobody waits who comes alone. Knows nothing of what they do.
"""

from __future__ import annotations

import asyncio
from collections import deque

AT_ONCE = 16


class Turnstile:
    """Belongs to the running loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: deque[asyncio.Future[None]] = deque()
        self._passed = 0  # in this turn

    def let(self, waiter: asyncio.Future[None]) -> None:
        """Gives `waiter` its result, in this turn or in one of the next; it may be cancelled meanwhile."""
        if self._passed == 0:
            self._loop.call_soon(self._turn)
        if self._passed < AT_ONCE:
            self._passed += 1
            _release(waiter)
        else:
            self._queue.append(waiter)

    def _turn(self) -> None:
        self._passed = min(AT_ONCE, len(self._queue))
        if self._passed:
            self._loop.call_soon(self._turn)
        for _ in range(self._passed):
            _release(self._queue.popleft())


def _release(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
