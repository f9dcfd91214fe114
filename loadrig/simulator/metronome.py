"""Wakes tasks at absolute instants with one timer for all, and keeps the record of how late events left.

An event loop's own timers cost several microseconds each to arm; with ten thousand events a second one heap and
one armed timer are cheaper. uvloop counts in whole milliseconds, so a wake-up comes up to one late, never early.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from dataclasses import dataclass, field

NS_PER_S = 1_000_000_000
STEP_NS = 50_000
TOP = 40_000
"""The lateness record counts in steps of 50 us, up to 2 s; what is later counts as 2 s."""


class Metronome:
    """`await until(due_ns)` for many tasks of one loop; instants of `time.perf_counter_ns`."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._armed_ns = 0

    def until(self, due_ns: int) -> asyncio.Future[None]:
        """A future that is done at or after `due_ns`."""
        future = self._loop.create_future()
        self._count += 1
        heapq.heappush(self._heap, (due_ns, self._count, future))
        if self._timer is None or due_ns < self._armed_ns:
            self._arm(due_ns)
        return future

    def _arm(self, due_ns: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_ns = due_ns
        wait_ms = math.ceil((due_ns - time.perf_counter_ns()) / 1_000_000)
        self._timer = self._loop.call_later(max(0, wait_ms) / 1000, self._ring)

    def _ring(self) -> None:
        self._timer = None
        heap = self._heap
        now_ns = time.perf_counter_ns()
        while heap and heap[0][0] <= now_ns:
            future = heapq.heappop(heap)[2]
            if not future.done():
                future.set_result(None)
        if heap:
            self._arm(heap[0][0])


@dataclass(slots=True)
class Lateness:
    """How late events left, as counts per 50 us."""

    count: int = 0
    max_ns: int = 0
    _counts: list[int] = field(default_factory=lambda: [0] * (TOP + 1))

    def add(self, late_ns: int) -> None:
        self.count += 1
        self.max_ns = max(self.max_ns, late_ns)
        self._counts[min(TOP, max(0, late_ns) // STEP_NS)] += 1

    def quantile_ms(self, share: float) -> float | None:
        """The upper edge of the step in which that share of events is reached; None without events."""
        if not self.count:
            return None
        wanted, seen = math.ceil(share * self.count), 0
        for step, count in enumerate(self._counts):
            seen += count
            if seen >= wanted:
                return (step + 1) * STEP_NS / 1_000_000
        raise AssertionError("the counts sum to count")
