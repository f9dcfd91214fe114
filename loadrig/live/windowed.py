"""Gauges that are worked out when somebody looks: latencies of the last ten seconds, and what is left of rate limits.

Rules: what has no sample in its window has no series, so nothing stays frozen when an arm, or the run, has ended.
Memory is bounded (see `recent.py`). Windows hold every phase: they say what goes on now, not what was measured; only
successes are timed. A percentile stands beside the number of its samples: of fewer than twenty the 95th is the largest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from loadrig.live.headroom import Headroom
from loadrig.live.recent import Recent
from loadrig.words.clock import Clock
from loadrig.words.record import Record, succeeded

WINDOWS = {
    "time_to_first_token": "Attempt begin to first generated content, of successful turns",
    "trial_duration": "Trial begin to trial end, successes",
}


class Windowed(Collector):
    """Takes records; a registry collects from it, in whatever thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forgets all: what ended is in no window."""
        with self._lock:
            self._recent: dict[str, dict[tuple[str, str], Recent]] = {name: {} for name in WINDOWS}
            self._headroom = Headroom()

    def record(self, record: Record) -> None:
        now_ns, lane = self._clock.now_ns(), (record.arm, record.model)
        with self._lock:
            self._headroom.record(record, now_ns)
            for turn in record.turns:
                if succeeded(turn) and turn.ttft_ns is not None:
                    self._recent["time_to_first_token"].setdefault(lane, Recent()).add(turn.ttft_ns, now_ns)
            if succeeded(record) and record.service_ns is not None:
                self._recent["trial_duration"].setdefault(lane, Recent()).add(record.service_ns, now_ns)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        with self._lock:
            families = [*self._latencies(), *self._left()]
        yield from families

    def _latencies(self) -> Iterator[GaugeMetricFamily]:
        now_ns = self._clock.now_ns()
        for name, about in WINDOWS.items():
            half, most, samples = (
                _gauge(f"{name}_p50_10s_seconds", f"{about}: median of the last 10 seconds, every phase."),
                _gauge(f"{name}_p95_10s_seconds", f"{about}: 95th percentile of the last 10 seconds, every phase."),
                _gauge(f"{name}_samples_10s", f"{about}: how many in the last 10 seconds."),
            )
            for lane, recent in self._recent[name].items():
                found = recent.spread(now_ns).percentiles()
                if found.p50_ns is not None and found.p95_ns is not None:
                    half.add_metric(lane, found.p50_ns / 1e9)
                    most.add_metric(lane, found.p95_ns / 1e9)
                    samples.add_metric(lane, found.n)
            yield from (half, most, samples)

    def _left(self) -> Iterator[GaugeMetricFamily]:
        about = "of requests or tokens a minute, as the newest reply of the last minute told"
        allowed = GaugeMetricFamily("loadrig_rate_limit_allowed", f"The limit {about}.", labels=("model", "kind"))
        remaining = GaugeMetricFamily(
            "loadrig_rate_limit_remaining", f"What is left {about}.", labels=("model", "kind")
        )
        for lane, left in self._headroom.left(self._clock.now_ns()).items():
            if left.limit is not None:
                allowed.add_metric(lane, left.limit)
            if left.remaining is not None:
                remaining.add_metric(lane, left.remaining)
        yield from (allowed, remaining)


def _gauge(name: str, about: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"loadrig_{name}", about, labels=("arm", "model"))
