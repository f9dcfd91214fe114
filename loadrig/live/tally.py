"""Running figures of a run for people to watch: counts, recent latencies, cost so far, time left. Pure: no output.

Rules: memory does not grow with the run. Percentiles are over the last 2,000 samples (nearest rank), so they follow
the load as it changes; the report's, over all records, are the ones to quote. Cost is exact; it is partial as soon
as one trial that called a model has no price, or its usage was cut short. Time left is what remains divided by the
pace of the last 200 trials.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from loadrig.words.record import Record, succeeded
from loadrig.words.trial import Pulse, RunInfo

WINDOW = 2_000
PACE_WINDOW = 200
PACE_MIN = 5


@dataclass(frozen=True, slots=True)
class Percentiles:
    """p50 and p95 in nanoseconds; both null when there is no sample yet."""

    p50_ns: int | None
    p95_ns: int | None


class Tally:
    """Takes a run's start, records and pulses; answers what a line of progress shows. Times are passed in. `bound`:
    client-bound stages with the causes; `unchecked`: stages of which that is not known."""

    def __init__(self) -> None:
        self.info: RunInfo | None = None
        self.latest: Pulse | None = None
        self.bound: dict[str, tuple[str, ...]] = {}
        self.unchecked: set[str] = set()
        self.done = 0
        self.unanswered = 0
        self.not_run = 0
        self.failures: Counter[str] = Counter()
        self.cost = Decimal(0)
        self.cost_known = False
        self.cost_partial = False
        self._ttft_ns: deque[int] = deque(maxlen=WINDOW)
        self._service_ns: deque[int] = deque(maxlen=WINDOW)
        self._ends_ns: deque[int] = deque(maxlen=PACE_WINDOW)

    @property
    def planned(self) -> int:
        """Trials planned; a trial asked again is done twice, so never fewer than are done."""
        return max(self.info.planned if self.info else 0, self.done)

    @property
    def failed(self) -> int:
        return self.failures.total()

    @property
    def ttft(self) -> Percentiles:
        """Time to first token of successful turns."""
        return _percentiles(self._ttft_ns)

    @property
    def service(self) -> Percentiles:
        """Service latency of successful trials."""
        return _percentiles(self._service_ns)

    def start(self, info: RunInfo, now_ns: int) -> None:
        self.info = info
        self._ends_ns.append(now_ns)

    def pulse(self, pulse: Pulse) -> None:
        """Notes the state of the rig; a stage's mark stays with the run, as its samples stay in the percentiles."""
        self.latest = pulse
        self.bound.pop(pulse.stage, None)
        self.unchecked.discard(pulse.stage)
        if pulse.client_bound:
            self.bound[pulse.stage] = pulse.bound_by
        elif pulse.client_bound is None:
            self.unchecked.add(pulse.stage)

    def add(self, record: Record, now_ns: int) -> None:
        self.done += record.outcome != "not_run"
        self._ends_ns.append(now_ns)
        self._add_outcome(record)
        self._add_cost(record)
        if succeeded(record) and record.service_ns is not None:
            self._service_ns.append(record.service_ns)
        for turn in record.turns:
            if succeeded(turn) and turn.ttft_ns is not None:
                self._ttft_ns.append(turn.ttft_ns)

    def left_s(self, now_ns: int) -> float | None:
        """Seconds left at the recent pace; null before five trials have ended."""
        trials = len(self._ends_ns) - 1
        if trials < PACE_MIN or now_ns <= self._ends_ns[0]:
            return None
        return (self.planned - self.done) * (now_ns - self._ends_ns[0]) / trials / 1e9

    def _add_outcome(self, record: Record) -> None:
        if record.outcome == "failed":
            self.failures[record.reason or "other"] += 1
        elif record.outcome == "unanswered":
            self.unanswered += 1
        elif record.outcome == "not_run":
            self.not_run += 1

    def _add_cost(self, record: Record) -> None:
        if record.cost is not None:
            self.cost += Decimal(record.cost)
            self.cost_known = True
        unpriced = record.cost is None and bool(record.turns)
        cut_short = record.usage is not None and not record.usage.exact
        self.cost_partial = self.cost_partial or unpriced or cut_short


def _percentiles(window: deque[int]) -> Percentiles:
    if not window:
        return Percentiles(None, None)
    p50_ns, p95_ns = np.quantile(np.array(window, dtype=np.int64), (0.5, 0.95), method="inverted_cdf")
    return Percentiles(int(p50_ns), int(p95_ns))
