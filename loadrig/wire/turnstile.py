"""A turnstile: lets a few of those who wait go on in each turn of the event loop.

Why: streams that began together end together, and whoever is let go ends a trial and starts the next one, a hundred
microseconds of work. Hundreds of them in one turn hold every other stream, and every timer, for tens of milliseconds.
Rules: first come, first served; nobody waits who comes alone; reading goes first: as long as it is behind only a few
pass, because what is read late may come together with what followed it. Knows nothing of what they do.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

AT_ONCE, WHEN_BEHIND = 16, 2


class Turnstile:
    """Belongs to the running loop. `is_behind` says whether there is more to be read than one turn reads."""

    def __init__(self, is_behind: Callable[[], bool]) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_behind = is_behind
        self._queue: deque[asyncio.Future[None]] = deque()
        self._is_turning = False
        self._places = 0  # left in this turn

    def let(self, waiter: asyncio.Future[None]) -> None:
        """Gives `waiter` its result, in this turn or in one of the next; it may be cancelled meanwhile."""
        self._queue.append(waiter)
        if not self._is_turning:
            self._turn()
        elif self._places:
            self._pass()

    def _turn(self) -> None:
        self._is_turning = bool(self._queue)
        if self._is_turning:
            self._loop.call_soon(self._turn)
            self._places = WHEN_BEHIND if self._is_behind() else AT_ONCE
            self._pass()

    def _pass(self) -> None:
        while self._queue and self._places:
            self._places -= 1
            _release(self._queue.popleft())


def _release(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
