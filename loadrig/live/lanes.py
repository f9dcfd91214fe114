"""The figures of a run by arm and model, for people to watch: counts, latencies now and so far, tokens a second, cost.

Rules: memory does not grow with the run. `now` is the last ten seconds, every phase; `so far` is the measured trials of
the present stage, because one figure over two loads says nothing of either. Only successes are timed. Tokens count when
their trial ends. Pure: times are passed in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from loadrig.live.recent import WINDOW_NS, Percentiles, Recent, Spread
from loadrig.words.record import Record, succeeded


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown of an arm with a model. `tokens_per_s`: output, null when no reply told its tokens; `cost` null
    when no trial has a price, and `is_partial` when one that called a model has none."""

    arm: str
    model: str
    done: int
    failed: int
    ttft_now: Percentiles
    service_now: Percentiles
    ttft: Percentiles
    service: Percentiles
    tokens_per_s: float | None
    cost: Decimal | None
    is_partial: bool


class _Lane:
    def __init__(self) -> None:
        self.done = self.failed = 0
        self.cost: Decimal | None = None
        self.is_partial = False
        self.ttft_now, self.service_now, self.tokens = Recent(), Recent(), Recent()
        self.begin_stage()

    def begin_stage(self) -> None:
        self.ttft, self.service = Spread(), Spread()

    def add(self, record: Record, now_ns: int) -> None:
        self.done += record.outcome != "not_run"
        self.failed += record.outcome == "failed"
        if record.cost is not None:
            self.cost = (self.cost or Decimal(0)) + Decimal(record.cost)
        cut_short = record.usage is not None and not record.usage.exact
        self.is_partial = self.is_partial or cut_short or (record.cost is None and bool(record.turns))
        if record.usage is not None and record.usage.output is not None:
            self.tokens.add(record.usage.output, now_ns)
        is_measured = record.phase == "measured"
        for turn in record.turns:
            if succeeded(turn) and turn.ttft_ns is not None:
                self.ttft_now.add(turn.ttft_ns, now_ns)
                if is_measured:
                    self.ttft.add(turn.ttft_ns)
        if succeeded(record) and record.service_ns is not None:
            self.service_now.add(record.service_ns, now_ns)
            if is_measured:
                self.service.add(record.service_ns)


class Lanes:
    """Takes records; `rows` are in the order in which arms were expected or came."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._began_ns = 0
        self._stage: str | None = None

    def expect(self, lanes: Iterable[tuple[str, str]]) -> None:
        """Arms and models that will come, so that they have a row from the beginning."""
        for lane in lanes:
            self._lanes.setdefault(lane, _Lane())

    def start(self, now_ns: int) -> None:
        self._began_ns = now_ns

    def add(self, record: Record, now_ns: int) -> None:
        if record.stage != self._stage:
            self._stage = record.stage
            for lane in self._lanes.values():
                lane.begin_stage()
        self._lanes.setdefault((record.arm, record.model), _Lane()).add(record, now_ns)

    def rows(self, now_ns: int) -> tuple[Row, ...]:
        return tuple(self._row(arm, model, lane, now_ns) for (arm, model), lane in self._lanes.items())

    def _row(self, arm: str, model: str, lane: _Lane, now_ns: int) -> Row:
        tokens = lane.tokens.spread(now_ns)
        over_s = min(WINDOW_NS, max(now_ns - self._began_ns, 1)) / 1e9
        return Row(
            arm,
            model,
            lane.done,
            lane.failed,
            ttft_now=lane.ttft_now.spread(now_ns).percentiles(),
            service_now=lane.service_now.spread(now_ns).percentiles(),
            ttft=lane.ttft.percentiles(),
            service=lane.service.percentiles(),
            tokens_per_s=tokens.total / over_s if tokens.count else None,
            cost=lane.cost,
            is_partial=lane.is_partial,
        )
