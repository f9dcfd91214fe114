"""Whether a stage was past what its target can do, and what that shows in: pure functions of a stage's figures.

Closed loop: from one load to a higher one throughput rose by less than a quarter of what it would have risen by had it
followed the load (both as logarithms), and with 95 % certainty by less than half. By Little's law what throughput does
not follow is waiting, or failing. Open loop: the backlog grew all through the stage, or more than 1 % of what was due
was never sent.

The cause is the first of these that holds: client-bound (the rig itself was the bottleneck: nothing is said of the
target); rate limit (more than 1 % of trials met HTTP 429 or 529, by the lower end of Wilson's interval); errors (more
than 1 % failed, likewise); latency (all is well answered, only later).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from loadrig.analysis.load import StageLoad
from loadrig.knee import Point
from loadrig.stats import wilson
from loadrig.words.record import Record

Cause = Literal["client-bound", "rate limit", "errors", "latency"]

FOLLOWED, SURELY, SIGMAS = 0.25, 0.5, 1.96
SOME = 0.01
LIMITED = (429, 529)


@dataclass(frozen=True, slots=True)
class Limits:
    """Of `n` trials sent, `limited` met HTTP 429 or 529, `retry_after` of them with the header, and `failed` failed."""

    n: int
    limited: int
    retry_after: int
    failed: int


def limits(sent: Sequence[Record]) -> Limits:
    """What trials that were sent met."""
    met = [[a for t in record.turns for a in t.attempts if a.http_status in LIMITED] for record in sent]
    told = sum(any(name == "retry-after" for a in one for name, _ in a.rate_limit) for one in met)
    failed = sum(record.outcome == "failed" for record in sent)
    return Limits(len(sent), sum(map(bool, met)), told, failed)


def point(stage: StageLoad) -> Point | None:
    """The stage as a point of the sweep's curve: trials in flight, or offered a second, and successes a second.

    While an open loop's target keeps up, what is achieved differs from what was offered by the trials in flight at
    either end of the measured part; when it does not, it is a rate of its own, with the error of one.
    """
    if (loop := stage.open_loop) is not None:
        ended = max(1.0, loop.achieved_per_s * loop.measured_s)
        edges = math.sqrt(2 * max(1.0, loop.in_flight_mean)) / ended
        error = 1 / math.sqrt(ended) if stage.rate_error is None else stage.rate_error
        return Point(loop.offered_per_s, loop.achieved_per_s, error if is_saturated(stage, None) else edges)
    if stage.reached is None or stage.trials_per_s is None:
        return None
    error = 1 / math.sqrt(max(1, stage.window_n)) if stage.rate_error is None else stage.rate_error
    return Point(stage.reached, stage.trials_per_s, error)


def is_saturated(stage: StageLoad, below: Point | None) -> bool:
    """`below`: the stage of the next lower load."""
    if (loop := stage.open_loop) is not None:
        return loop.growing or loop.late > SOME * loop.due
    here = point(stage)
    return here is not None and below is not None and _is_flat(below, here)


def cause(stage: StageLoad, met: Limits) -> Cause:
    """Why the stage was past its target, or did not keep an objective."""
    if stage.client_bound:
        return "client-bound"
    if _some(met.limited, met.n):
        return "rate limit"
    return "errors" if _some(met.failed, met.n) else "latency"


def _some(k: int, n: int) -> bool:
    found = wilson(k, n)
    return found is not None and found.low > SOME


def _is_flat(below: Point, here: Point) -> bool:
    if here.load <= below.load or not below.per_s:
        return False
    if not here.per_s:
        return True
    step, gain = math.log(here.load / below.load), math.log(here.per_s / below.per_s)
    return gain < FOLLOWED * step and gain + SIGMAS * math.hypot(below.error, here.error) < SURELY * step
