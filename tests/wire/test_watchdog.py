"""The watchdog: who is looked at, when, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import time

from asking import until

from loadrig.wire.watchdog import Watchdog
from loadrig.words.clock import SystemClock

MS = 1_000_000


class Due:
    """Notes the milliseconds at which it was looked at; is over at `due_ms`."""

    def __init__(self, due_ms: int) -> None:
        self.due_ns = time.perf_counter_ns() + due_ms * MS
        self.late_ms: float | None = None

    def look(self, now_ns: int) -> int | None:
        if now_ns < self.due_ns:
            return self.due_ns
        assert self.late_ms is None, "looked at after it was over"
        self.late_ms = (now_ns - self.due_ns) / MS
        return None


def test_each_is_looked_at_when_it_is_due_whoever_came_first() -> None:
    """Due after 60, 20 and 40 ms, added in this order: none is looked at too early to act, all have acted by 500 ms."""

    async def go() -> list[float | None]:
        watchdog, watched = Watchdog(SystemClock()), [Due(60), Due(20), Due(40)]
        for one in watched:
            watchdog.add(one, one.due_ns)
        async with asyncio.timeout(0.5):
            await until(lambda: all(one.late_ms is not None for one in watched))
        return [one.late_ms for one in watched]

    assert all(late_ms is not None and late_ms >= 0 for late_ms in asyncio.run(go()))


def test_who_was_discarded_is_not_looked_at() -> None:
    """Two due at once, one discarded before: only the other acts."""

    async def go() -> tuple[Due, Due]:
        watchdog, gone, stays = Watchdog(SystemClock()), Due(10), Due(10)
        for one in (gone, stays):
            watchdog.add(one, one.due_ns)
        watchdog.discard(gone)
        async with asyncio.timeout(0.5):
            await until(lambda: stays.late_ms is not None)
        return gone, stays

    gone, stays = asyncio.run(go())
    assert gone.late_ms is None
    assert stays.late_ms is not None


def test_nobody_is_looked_at_after_its_close() -> None:
    """Closed before the one it watches is due: 30 ms later nothing has happened."""

    async def go() -> float | None:
        watchdog, one = Watchdog(SystemClock()), Due(10)
        watchdog.add(one, one.due_ns)
        watchdog.close()
        await asyncio.sleep(0.03)
        return one.late_ms

    assert asyncio.run(go()) is None
