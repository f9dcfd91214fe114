"""Time as the rig uses it: integer nanoseconds of one monotonic clock; wall time only as a label.

Knows nothing of time zones (the read side does) and never subtracts times of two machines.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Monotonic nanoseconds for durations, an ISO 8601 UTC label for people."""

    def now_ns(self) -> int: ...
    def label(self) -> str: ...


class SystemClock:
    """The machine's own clock: `time.perf_counter_ns` (about 50 ns a call) and the system's wall time."""

    def now_ns(self) -> int:
        return time.perf_counter_ns()

    def label(self) -> str:
        """UTC now, microseconds, e.g. `2026-11-29T23:00:00.123456Z`."""
        return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
