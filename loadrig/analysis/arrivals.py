"""What an open-loop stage was: how much was due, offered and achieved, and whether the target kept up.

Everything is reckoned from the stage's begin: a trial is due at its plan's time, begins its dispatch delay later and
ends its scheduled latency later. Workers share that begin to within the clock error in the manifest, so instants of two
clocks are never subtracted. Offered: measured trials due / measured seconds. Achieved: successes of any phase that
ended inside the measured part of the stage / its seconds; it falls behind when the target does.

The backlog is what was due and not ended, sent or not. Where the target keeps up it swings about a level. It grows when
its mean rises from the first third of the measured part to the second by half a step, and from there to the last by a
step: max(2, sqrt of the second), about what a Poisson count swings by. A stall that is over is no growth; a stage
little longer than its trials grows too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from loadrig.analysis.latency import Latency, Spread, latency, spread
from loadrig.analysis.selection import due, grouped
from loadrig.log import RunFolder
from loadrig.words.record import Record, succeeded

Span = tuple[float, float]  # two instants, nanoseconds from the stage's begin


@dataclass(frozen=True, slots=True)
class Arrivals:
    """An open-loop stage, all arms together. `due` measured trials, `late` of which were never sent; rates per second
    over the `measured_s` seconds after ramp and warm-up. `in_flight_*`: sent and not ended, in that time. `full`: a
    worker had its share of `max_in_flight`, so that trials waited to be sent. `backlog`: means of due and not ended
    over the thirds. `scheduled` holds what was never sent, beyond every success."""

    arrivals: str
    rate_per_s: float
    max_in_flight: int
    measured_s: float
    due: int
    late: int
    offered_per_s: float
    achieved_per_s: float
    in_flight_mean: float
    in_flight_max: int
    full: bool
    backlog: tuple[float, ...]
    growing: bool
    scheduled: Latency
    dispatch_delay: Spread


def arrivals(run: RunFolder, stage: Mapping[str, Any]) -> Arrivals | None:
    """Of a stage as the manifest describes it; None for a closed loop."""
    loop = stage.get("open_loop")
    if loop is None:
        return None
    at = {trial.id: trial.due_ns or 0 for trial in run.trials if trial.stage == stage["name"]}
    records = [record for record in run.records if record.trial in at]
    mine = [record for record in due(run) if record.trial in at]
    begin, end = loop["measured_from_ns"], loop["length_ns"]
    begun = [(r, r.dispatch_delay_ns) for r in records if r.dispatch_delay_ns is not None]
    by_worker = grouped((r.worker, (at[r.trial] + delay_ns, _end(at, r))) for r, delay_ns in begun)
    sent = [span for spans in by_worker.values() for span in spans]
    whole = [(at[r.trial], _end(at, r)) for r in records if r.scheduled_ns is not None]
    thirds = [begin + (end - begin) * part / 3 for part in range(4)]
    backlog = tuple(_mean(whole, *edges) for edges in pairwise(thirds))
    planned = sum(trial.phase == "measured" for trial in run.trials if trial.id in at)
    ended = sum(succeeded(r) and begin <= _end(at, r) < end for r in records if r.scheduled_ns is not None)
    return Arrivals(
        arrivals=loop["arrivals"],
        rate_per_s=loop["rate_per_s"],
        max_in_flight=loop["max_in_flight"],
        measured_s=(end - begin) / 1e9,
        due=planned,
        late=sum(record.reason == "late" for record in mine),
        offered_per_s=planned * 1e9 / (end - begin),
        achieved_per_s=ended * 1e9 / (end - begin),
        in_flight_mean=_mean(sent, begin, end),
        in_flight_max=_most(sent, begin, end),
        full=any(_most(spans, 0, end) >= loop["max_in_flight"] // len(by_worker) for spans in by_worker.values()),
        backlog=backlog,
        growing=_is_growing(*backlog),
        scheduled=latency(mine, "scheduled"),
        dispatch_delay=spread(mine, "dispatch_delay"),
    )


def _is_growing(first: float, second: float, last: float) -> bool:
    step = max(2.0, math.sqrt(second))
    return last - second > step and second - first > step / 2


def _end(at: Mapping[str, int], record: Record) -> int:
    return at[record.trial] + (record.scheduled_ns or 0)


def _mean(spans: Sequence[Span], begin: float, end: float) -> float:
    """How many spans there are at once, on average between two instants."""
    return sum(max(0.0, min(last, end) - max(first, begin)) for first, last in spans) / (end - begin)


def _most(spans: Sequence[Span], begin: float, end: float) -> int:
    """The most spans at once between two instants; one that ends where another begins is not counted with it."""
    inside = [(max(first, begin), last) for first, last in spans if last > begin and first < end]
    steps = grouped([*((first, 1) for first, _ in inside), *((last, -1) for _, last in inside)])
    most = now = 0
    for instant in sorted(steps):
        now += sum(steps[instant])
        most = max(most, now)
    return most
