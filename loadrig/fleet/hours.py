"""When a stage begins and ends, and where those instants lie on each worker's clock. Pure.

Durations never cross machines: a worker is told instants of its own clock, once a stage, and reckons with them alone.
The mapping comes from round trips of the exchange: a question goes out at s, is heard at h and answered at a on the
worker's clock, and the answer is back at b. Worker minus driver is then ((h - s) + (a - b)) / 2, wrong by at most half
of what the two ways took, ((b - s) - (a - h)) / 2 (Mills, RFC 5905, section 8). The best of several round trips counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ROUND_TRIPS = 8
LEASE_AHEAD_NS = 1_000_000_000  # ten exchanges
OVERDUE_NS = 500_000_000  # a worker that has not fetched its share so shortly before it is due leaves it to the others
START_AHEAD_NS = 600_000_000  # the first leases reach every worker before the first trial is due
LATE_NS = 50_000_000  # a timer or a busy loop may be so late at the end of a stage


@dataclass(slots=True)
class Offset:
    """A worker's clock against the driver's, from its best round trip. `error_ns` bounds how wrong it is."""

    ahead_ns: int = 0
    error_ns: int | None = None
    round_trips: int = 0

    def add(self, *, sent_ns: int, heard_ns: int, answered_ns: int, back_ns: int) -> None:
        """One round trip; `heard_ns` and `answered_ns` are on the worker's clock."""
        error_ns = (back_ns - sent_ns - (answered_ns - heard_ns) + 1) // 2
        self.round_trips += 1
        if self.error_ns is None or error_ns < self.error_ns:
            self.error_ns = error_ns
            self.ahead_ns = (heard_ns - sent_ns + answered_ns - back_ns) // 2


@dataclass(frozen=True, slots=True)
class Hours:
    """Instants on the driver's clock. Nothing is begun from `end_ns` on. `offsets` are the workers' clocks; without
    them the stage is a closed loop, which needs no due times."""

    begin_ns: int
    end_ns: int | None = None
    offsets: Mapping[str, Offset] = field(default_factory=dict)

    def is_over(self, now_ns: int) -> bool:
        return self.end_ns is not None and now_ns >= self.end_ns

    def begin_of(self, worker: str) -> int | None:
        """The stage's begin on the worker's clock; None in closed loop."""
        return self.begin_ns + self.offsets[worker].ahead_ns if worker in self.offsets else None

    def end_of(self, worker: str) -> int | None:
        """The stage's end on the worker's clock; None in closed loop."""
        return self.end_ns + self.offsets[worker].ahead_ns if worker in self.offsets and self.end_ns else None

    def sent_until_ns(self, worker: str, now_ns: int) -> int | None:
        """Trials of a worker that are due later than this, from the begin, cannot have been sent; None: unknown."""
        return now_ns - self.begin_ns + (self.offsets[worker].error_ns or 0) if worker in self.offsets else None

    def age_ns(self, due_ns: int) -> int:
        """How long a trial that is due then has waited when the stage ends."""
        return max(0, (self.end_ns or self.begin_ns) - self.begin_ns - due_ns)
