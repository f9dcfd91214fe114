"""The worker's knowledge of itself: how late its loop wakes, how much of a core it uses, how long collections held it.

Loop lag is the difference between the instant a 10 ms timer was due and the instant it ran, by the system's monotonic
clock: uvloop's own goes by whole milliseconds, and so do its timers, so a lag below 1 ms says nothing. Due times are
fixed: one stall of 100 ms makes ten late timers, as it delays ten events, not one. CPU share is process time over wall
time (user and system, all threads) in windows of five seconds, none across two stages. Only full garbage
collections (generation 2) are counted as pauses: the others last microseconds.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PERIOD_NS = 10_000_000
CPU_WINDOW_S = 5.0
_OLDEST = 2


@dataclass(frozen=True, slots=True)
class Pauses:
    """Full garbage collections: how many, their time together, the longest."""

    count: int = 0
    total_ns: int = 0
    max_ns: int = 0

    def __add__(self, other: Pauses) -> Pauses:
        return Pauses(self.count + other.count, self.total_ns + other.total_ns, max(self.max_ns, other.max_ns))


@dataclass(frozen=True, slots=True)
class Vitals:
    """What a probe saw since it was last asked. `lags_ns`: one value a 10 ms; `cpu_share`: 1.0 is one core, over five
    seconds, None in the first five of a stage; `loop`: the class of the event loop, empty when it never ran."""

    lags_ns: tuple[int, ...] = ()
    cpu_share: float | None = None
    pauses: Pauses = field(default_factory=Pauses)
    loop: str = ""


class CpuWindow:
    """Share of a core over the last `window_s`, from process time seen now and then."""

    def __init__(self, window_s: float = CPU_WINDOW_S) -> None:
        self._window_s = window_s
        self._seen: deque[tuple[float, float]] = deque()

    def clear(self) -> None:
        self._seen.clear()

    def share(self, at_s: float, cpu_s: float) -> float | None:
        """At an instant with so much process time used; None before a whole window has passed."""
        self._seen.append((at_s, cpu_s))
        while len(self._seen) > 2 and at_s - self._seen[1][0] >= self._window_s:
            self._seen.popleft()
        first_s, used_s = self._seen[0]
        return (cpu_s - used_s) / (at_s - first_s) if at_s - first_s >= self._window_s else None


class Probe:
    """`run` samples until cancelled; `take` hands over what was seen since the last call."""

    def __init__(self, *, cpu_window_s: float = CPU_WINDOW_S) -> None:
        self._lags_ns: list[int] = []
        self._since_ns = 0  # timers due before are not the stage's
        self._cpu = CpuWindow(cpu_window_s)
        self._pauses = Pauses()
        self._collecting_ns = 0
        self._loop = ""

    async def run(self) -> None:
        """Samples for ever; the task group that owns it ends it."""
        of = type(asyncio.get_running_loop())
        self._loop = f"{of.__module__}.{of.__qualname__}"
        gc.callbacks.append(self._collected)
        try:
            due_ns = time.monotonic_ns() + PERIOD_NS
            while True:
                await asyncio.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
                now_ns = max(due_ns, time.monotonic_ns())
                while due_ns <= now_ns:  # all that came due: one a turn would fall ever further behind on a full core
                    if due_ns >= self._since_ns:
                        self._lags_ns.append(now_ns - due_ns)
                    due_ns += PERIOD_NS
        finally:
            gc.callbacks.remove(self._collected)

    def begin_stage(self) -> None:
        """Forgets what it saw until now: an idle loop before a stage would hide how late the stage's own was. A timer
        that is due and has not run, since what went before held the loop, is of before, too."""
        self._since_ns = time.monotonic_ns()
        self._cpu.clear()
        self.take()

    def take(self) -> Vitals:
        """What was seen since the last call; the CPU share reaches further back."""
        lags, self._lags_ns = tuple(self._lags_ns), []
        pauses, self._pauses = self._pauses, Pauses()
        return Vitals(lags, self._cpu.share(time.monotonic(), time.process_time()), pauses, self._loop)

    def _collected(self, phase: str, info: Mapping[str, Any]) -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._collecting_ns = time.perf_counter_ns()
        else:
            took_ns = time.perf_counter_ns() - self._collecting_ns
            self._pauses += Pauses(1, took_ns, took_ns)
