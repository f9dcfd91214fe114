"""When a stage is client-bound, its latencies partly the rig's own: the one rule, for the live mark and for reports.

A process of the rig is a cause when its loop's lag p99 > max(5 ms, 5 % of the stage's TTFT p50), or its CPU > 85 % of
a core over any five seconds. Judged are all workers and, since it runs on the same machine, an embedded simulator: its
lateness is in every latency. A driver with a loop of its own stamps nothing; what it delays is the next lease, and
those reach 250 ms ahead of exchanges that are 100 ms apart: its lag counts from 100 ms on.

What was not sampled is not judged: None, never False. A stage of under five seconds has no CPU share; its lag decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

DRIVER, SIMULATOR = "driver", "simulator"  # how they are named beside the workers; a second simulator: simulator-2
LAG_FLOOR_NS, LAG_SHARE = 5_000_000, 0.05
CPU_LIMIT = 0.85
DRIVER_LAG_LIMIT_NS = 100_000_000


@dataclass(frozen=True, slots=True)
class Cause:
    """A process over a limit: `value` and `limit` in the unit of the measure, nanoseconds or shares of one core."""

    process: str
    measure: Literal["lag_p99_ns", "cpu_share_max"]
    value: float
    limit: float

    def __str__(self) -> str:
        """`worker w2: loop lag p99 12.1 ms (limit 5.0 ms)`."""
        if self.measure == "lag_p99_ns":
            return f"{named(self.process)}: loop lag p99 {self.value / 1e6:.1f} ms (limit {self.limit / 1e6:.1f} ms)"
        return f"{named(self.process)}: CPU {self.value:.0%} of a core (limit {self.limit:.0%})"


def named(process: str) -> str:
    """`worker w2`, `driver`, `simulator`."""
    return process if process == DRIVER or is_simulator(process) else f"worker {process}"


def is_simulator(process: str) -> bool:
    """Whether it is an embedded simulator's name."""
    return process == SIMULATOR or process.startswith(f"{SIMULATOR}-")


def lag_limit_ns(process: str, ttft_p50_ns: int | None) -> int:
    """The limit of a process's lag p99 in a stage with that TTFT p50; without one the floor."""
    if process == DRIVER:
        return DRIVER_LAG_LIMIT_NS
    return max(LAG_FLOOR_NS, round(LAG_SHARE * (ttft_p50_ns or 0)))


def causes(
    process: str, *, lag_p99_ns: int | None, cpu_share_max: float | None, ttft_p50_ns: int | None
) -> tuple[Cause, ...]:
    """What of a process is over its limit."""
    limit_ns = lag_limit_ns(process, ttft_p50_ns)
    found = []
    if lag_p99_ns is not None and lag_p99_ns > limit_ns:
        found.append(Cause(process, "lag_p99_ns", lag_p99_ns, limit_ns))
    if cpu_share_max is not None and cpu_share_max > CPU_LIMIT:
        found.append(Cause(process, "cpu_share_max", cpu_share_max, CPU_LIMIT))
    return tuple(found)


def is_bound(found: Iterable[Cause], lag_p99_ns: int | None) -> bool | None:
    """The verdict on one process: None when its loop was not sampled and nothing else speaks against it."""
    return True if any(True for _ in found) else None if lag_p99_ns is None else False


def any_bound(verdicts: Iterable[bool | None]) -> bool | None:
    """The verdict on a stage: one cause is enough, and one process that was not judged leaves it open."""
    found = list(verdicts)
    return True if any(found) else None if not found or None in found else False
