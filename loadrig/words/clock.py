"""Time as the rig uses it: integer nanoseconds of one monotonic clock; wall time only as a label.

Knows nothing of time zones (the read side does) and never subtracts times of two machines.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Clock(Protocol):
    """Monotonic nanoseconds for durations, an ISO 8601 UTC label for people."""

    def now_ns(self) -> int: ...
    def label(self) -> str: ...


class SystemClock:
    """The machine's own clock: `time.perf_counter_ns` (about 50 ns a call) and the system's wall time."""

    now_ns = staticmethod(time.perf_counter_ns)  # itself: a method around it would cost as much again

    def label(self) -> str:
        """UTC now, microseconds, e.g. `2026-11-29T23:00:00.123456Z`."""
        seconds, rest_ns = divmod(time.time_ns(), 1_000_000_000)
        return f"{_second(seconds)}.{rest_ns // 1000:06}Z"


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    """Every trial and every attempt asks for a label, thousands in a second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
