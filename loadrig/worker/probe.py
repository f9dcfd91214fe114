"""The worker's knowledge of itself: how late its loop wakes, and how much of a core its process uses.

Loop lag is the difference between the instant a 10 ms timer was due and the instant it ran, by the system's monotonic
clock: uvloop's own goes by whole milliseconds, and so do its timers, so a lag below 1 ms says nothing. CPU share is
process time over wall time in windows of about five seconds (user and system, all threads).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque

PERIOD_NS = 10_000_000
CPU_WINDOW_S = 5.0


class Probe:
    """`run` samples until cancelled; `take` hands over the lags since the last call."""

    def __init__(self) -> None:
        self._lags_ns: list[int] = []
        self._cpu: deque[tuple[float, float]] = deque()

    async def run(self) -> None:
        """Samples for ever; the task group that owns it ends it."""
        while True:
            due_ns = time.monotonic_ns() + PERIOD_NS
            await asyncio.sleep(PERIOD_NS / 1e9)
            self._lags_ns.append(max(0, time.monotonic_ns() - due_ns))

    def take(self) -> tuple[tuple[int, ...], float]:
        """Lags in nanoseconds since the last call, and the CPU share (1.0 = one core) over the window."""
        lags, self._lags_ns = tuple(self._lags_ns), []
        now = (time.monotonic(), time.process_time())
        self._cpu.append(now)
        while len(self._cpu) > 2 and now[0] - self._cpu[1][0] >= CPU_WINDOW_S:
            self._cpu.popleft()
        wall = now[0] - self._cpu[0][0]
        return lags, (now[1] - self._cpu[0][1]) / wall if wall > 0.5 else 0.0
