"""Running figures of a whole run for people to watch: counts, recent latencies, cost so far, time left; those of each
arm are in `lanes.py`. Pure: no output.

Rules: memory does not grow with the run. Percentiles are over the last 2,000 samples (nearest rank), so they follow
the load as it changes; the report's, over all records, are the ones to quote. Cost is exact; it is partial as soon
as one trial that called a model has no price, or its usage was cut short. Time left is what remains divided by the
pace of the last 200 trials; of a stage with a stated duration, what remains of that.
"""

from __future__ import annotations

from collections import Counter, deque
from decimal import Decimal

import numpy as np

from loadrig.live.ahead import Ahead
from loadrig.live.lanes import Lanes
from loadrig.live.recent import Percentiles
from loadrig.live.trail import Trail
from loadrig.words.record import Record, succeeded
from loadrig.words.trial import Pulse, RunInfo

WINDOW = 2_000
PACE_WINDOW = 200
PACE_MIN = 5


class Tally:
    """Takes a run's start, records and pulses; answers what a line of progress shows. Times are passed in. `bound`:
    client-bound stages with the causes; `unchecked`: stages of which that is not known."""

    def __init__(self) -> None:
        self.info: RunInfo | None = None
        self.ahead: Ahead | None = None
        self.lanes = Lanes()
        self.trail = Trail()
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
        self._stages: dict[str, tuple[int, int]] = {}  # when each began, and what was done by then

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

    def expect(self, ahead: Ahead) -> None:
        """What is known of the run beforehand."""
        self.ahead = ahead
        self.lanes.expect(sorted({(arm, model) for arm, model, _ in ahead.lanes}))

    def start(self, info: RunInfo, now_ns: int) -> None:
        self.info = info
        self.trail.began_ns = now_ns
        self.lanes.start(now_ns)
        self._ends_ns.append(now_ns)

    def pulse(self, pulse: Pulse, now_ns: int) -> None:
        """Notes the state of the rig; a stage's mark stays with the run, as its samples stay in the percentiles."""
        self.latest = pulse
        self._stages.setdefault(pulse.stage, (now_ns, self.done))
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
        self.lanes.add(record, now_ns)
        if succeeded(record) and record.service_ns is not None:
            self._service_ns.append(record.service_ns)
        ttft_ns = [turn.ttft_ns for turn in record.turns if succeeded(turn) and turn.ttft_ns is not None]
        self._ttft_ns.extend(ttft_ns)
        if record.outcome != "not_run":
            self.trail.add(ttft_ns, now_ns)

    def left_s(self, now_ns: int) -> float | None:
        """Seconds left of the run; null before five trials have ended, where only their pace can tell, and where the
        run chooses its stages as it goes."""
        if self.ahead is None or self.latest is None:
            return self._paced_s(self.planned - self.done, now_ns)
        if self.ahead.is_steered:
            return None
        lasting = [one.lasts_s for one in self.ahead.stages if one.name not in self._stages]
        now_s = self.stage_left_s(now_ns)
        if now_s is not None and all(one is not None for one in lasting):
            return now_s + sum(one or 0.0 for one in lasting)
        return self._paced_s(self.planned - self.done, now_ns)

    def stage_left_s(self, now_ns: int) -> float | None:
        """Seconds left of the present stage; null when that is not known."""
        known = () if self.ahead is None or self.latest is None else self.ahead.stages
        stage = next((one for one in known if self.latest is not None and one.name == self.latest.stage), None)
        if stage is None:
            return None
        began_ns, done = self._stages[stage.name]
        if stage.lasts_s is not None:
            return max(stage.lasts_s - (now_ns - began_ns) / 1e9, 0.0)
        return self._paced_s(max(stage.planned - (self.done - done), 0), now_ns)

    def stage_place(self) -> tuple[int, int] | None:
        """Which stage of how many this is, from 1; null where the run chooses them as it goes, or has one."""
        if self.ahead is None or self.latest is None or self.ahead.is_steered or len(self.ahead.stages) < 2:
            return None
        names = [one.name for one in self.ahead.stages]
        return (names.index(self.latest.stage) + 1, len(names)) if self.latest.stage in names else None

    def _paced_s(self, trials: int, now_ns: int) -> float | None:
        """How long so many trials take at the recent pace."""
        ended = len(self._ends_ns) - 1
        if ended < PACE_MIN or now_ns <= self._ends_ns[0]:
            return None
        return trials * (now_ns - self._ends_ns[0]) / ended / 1e9

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
        return Percentiles()
    p50_ns, p95_ns = np.quantile(np.array(window, dtype=np.int64), (0.5, 0.95), method="inverted_cdf")
    return Percentiles(int(p50_ns), int(p95_ns), len(window))
