"""How late the simulator's own loop wakes and how much of a core it uses: told to whoever started it.

A client on the same machine measures this too, so it must be able to ask. With `--exit-with-parent` each line on
standard input is answered by one line of JSON on standard output:

    lags_ns   how late timers due each 10 ms ran since the last answer; the newest 30,000 when nobody asked for long
    at_ns     now, CLOCK_MONOTONIC; cpu_ns: process time used so far, user and system
    gc_count, gc_total_ns, gc_max_ns   full garbage collections since the last answer
    loop      the class of the event loop

The readers' processes are not in it: what a request waited for its reader stands in the truth log.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

PERIOD_NS = 10_000_000
MOST = 30_000
_OLDEST = 2


class Vitals:
    """`run` samples until cancelled; `line` hands over what was seen since the last one."""

    def __init__(self) -> None:
        self._lags_ns: deque[int] = deque(maxlen=MOST)
        self._pauses_ns: deque[int] = deque(maxlen=MOST)
        self._collecting_ns = 0

    async def run(self) -> None:
        gc.callbacks.append(self._collected)
        try:
            due_ns = time.monotonic_ns() + PERIOD_NS
            while True:
                await asyncio.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
                now_ns = max(due_ns, time.monotonic_ns())
                while due_ns <= now_ns:  # a stall makes all the timers late that were due in it
                    self._lags_ns.append(now_ns - due_ns)
                    due_ns += PERIOD_NS
        finally:
            gc.callbacks.remove(self._collected)

    def line(self) -> bytes:
        """JSON, with its newline."""
        of = type(asyncio.get_running_loop())
        said = {
            "lags_ns": tuple(self._lags_ns),
            "at_ns": time.monotonic_ns(),
            "cpu_ns": time.process_time_ns(),
            "gc_count": len(self._pauses_ns),
            "gc_total_ns": sum(self._pauses_ns),
            "gc_max_ns": max(self._pauses_ns, default=0),
            "loop": f"{of.__module__}.{of.__qualname__}",
        }
        self._lags_ns.clear()
        self._pauses_ns.clear()
        return msgspec.json.encode(said) + b"\n"

    def _collected(self, phase: str, info: Mapping[str, Any]) -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._collecting_ns = time.perf_counter_ns()
        else:
            self._pauses_ns.append(time.perf_counter_ns() - self._collecting_ns)
