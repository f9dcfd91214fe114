"""A run as Prometheus metrics: an observer of the driver's records and pulses, and the one home of the metric names.

Rules: a record is counted once, when it is written, so no counter ever falls; a worker that dies leaves no series
behind, because nothing is labelled with it. Labels come from small fixed sets: arm, model, stage and phase of the
plan, outcomes and reasons, HTTP codes, token kinds, the tools' names. The run's id stands in `loadrig_run_info`
only. Latencies are those of successes (answered, or cut off with text): failures are counted, not timed. Buckets
reach 300 s. There are no `_created` series.
Knows nothing of HTTP (see `endpoint.py`), prices nothing and computes no percentile: that is the reader's work.
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, disable_created_metrics

from loadrig.words.clock import Clock, SystemClock
from loadrig.words.record import Attempt, Record, Turn, Usage, succeeded
from loadrig.words.trial import Pulse, RunInfo

# Upper edges of the buckets, in seconds: for what a user waits for, and for what is mostly short (a token, a
# retrieval, the tools of a trial).
SECONDS = (
    0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4.5, 6, 8, 10, 15, 20, 30, 40, 50, 60, 90,
    120, 180, 240, 300,
)  # fmt: skip
SHORT_SECONDS = (
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
)  # fmt: skip
TURNS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 50)
PLACE = ("arm", "model", "stage", "phase")
TOOLS = ("list_documents", "search", "read")
TOOL_NAMES_MAX = 32
LAG_WINDOW_NS = 10_000_000_000
NOT_CHECKED = float("nan")


class Metrics:
    """An `Observer` that keeps the metrics of one run in a registry of its own, safe to scrape from any thread."""

    def __init__(self, clock: Clock | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry(auto_describe=True)
        self._clock = clock or SystemClock()
        self._currency = ""
        self._tools = set(TOOLS)
        self._lags: deque[tuple[int, int]] = deque()
        self._declare_counters()
        self._declare_histograms()
        self._declare_gauges()

    def started(self, info: RunInfo) -> None:
        self._currency = info.currency
        self._planned.inc(info.planned)
        labels = {"run": info.run, "plan": info.plan, "version": info.version, "simulated": str(info.simulated).lower()}
        self._run.info(labels)

    def record(self, record: Record) -> None:
        place = (record.arm, record.model, record.stage, record.phase)
        self._trials.labels(*place, record.outcome, record.reason or "").inc()
        self._backoff.labels(record.model).inc(_seconds(record.backoff_ns or 0))
        self._count_cost(place, record)
        self._count_tokens(place, record.usage)
        for turn in record.turns:
            self._observe_turn(place, turn)
        if record.turns:
            self._turns.labels(*place).observe(len(record.turns))
        if succeeded(record):
            _observe(self._ttfat, place, record.ttfat_ns)
            _observe(self._duration, place, record.service_ns)
            _observe(self._scheduled, place, record.scheduled_ns)
            _observe(self._retrieval, place, record.retrieval_ns)
            _observe(self._tool_time, place, record.tool_ns)

    def pulse(self, pulse: Pulse) -> None:
        self._in_flight.set(pulse.in_flight)
        self._target.set(NOT_CHECKED if pulse.target is None else pulse.target)
        self._client_bound.set(NOT_CHECKED if pulse.client_bound is None else pulse.client_bound)
        now_ns = self._clock.now_ns()
        self._lags.append((now_ns, pulse.lag_ns))
        while self._lags[0][0] < now_ns - LAG_WINDOW_NS:
            self._lags.popleft()
        self._lag.set(_seconds(max(lag_ns for _, lag_ns in self._lags)))

    def finished(self) -> None:
        """Nothing is in flight any more; the totals stay for the last scrape."""
        self._in_flight.set(0)
        self._target.set(0)

    def _observe_turn(self, place: tuple[str, ...], turn: Turn) -> None:
        for attempt in turn.attempts:
            self._attempts.labels(*place, code_of(attempt)).inc()
        for call in turn.tool_calls:
            if call.ok and len(self._tools) < TOOL_NAMES_MAX:
                self._tools.add(call.name)
            # A model may call for a tool that does not exist, by any name: such names share one series.
            self._tool_calls.labels(*place, call.name if call.name in self._tools else "other").inc()
        if succeeded(turn):
            _observe(self._ttft, place, turn.ttft_ns)
            _observe(self._tpot, place, turn.tpot_ns)

    def _count_tokens(self, place: tuple[str, ...], usage: Usage | None) -> None:
        if usage is None:
            return
        writes = [usage.cache_write_5m, usage.cache_write_1h]
        kinds = {
            "input": usage.input,
            "cache_write": sum(count or 0 for count in writes),
            "cache_read": usage.cache_read,
            "output": usage.output,
        }
        for kind, count in kinds.items():
            self._tokens.labels(*place, kind).inc(max(count or 0, 0))
        self._thinking.labels(*place).inc(max(usage.thinking or 0, 0))

    def _count_cost(self, place: tuple[str, ...], record: Record) -> None:
        if record.cost is not None:
            self._cost.labels(*place, record.currency or self._currency).inc(float(Decimal(record.cost)))

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"loadrig_{name}", help_text, labels, registry=self.registry)

    def _histogram(self, name: str, help_text: str, edges: tuple[float, ...]) -> Histogram:
        return Histogram(f"loadrig_{name}", help_text, PLACE, buckets=edges, registry=self.registry)

    def _gauge(self, name: str, help_text: str) -> Gauge:
        return Gauge(f"loadrig_{name}", help_text, registry=self.registry)

    def _declare_counters(self) -> None:
        counter = self._counter
        self._planned = counter("trials_planned", "Trials that the run plans, of every phase.")
        self._trials = counter("trials", "Trials by what became of them.", *PLACE, "outcome", "reason")
        self._attempts = counter(
            "attempts", "HTTP exchanges by status, or by failure where no bad status came.", *PLACE, "code"
        )
        self._backoff = counter(
            "backoff_seconds",
            "Time waited before attempts: after a failure, or for leave under the model's own limits.",
            "model",
        )
        self._tokens = counter("tokens", "Tokens as the provider reported them.", *PLACE, "kind")
        self._thinking = counter("thinking_tokens", "Thinking tokens reported; they are among the output.", *PLACE)
        self._cost = counter("cost", "Cost so far of the trials that have a price.", *PLACE, "currency")
        self._tool_calls = counter("tool_calls", "Tool calls that the rig carried out.", *PLACE, "tool")

    def _declare_histograms(self) -> None:
        histogram = self._histogram
        self._ttft = histogram(
            "time_to_first_token_seconds",
            "Attempt begin to first generated content, of each successful turn (hidden thinking is in it).",
            SECONDS,
        )
        self._ttfat = histogram(
            "time_to_first_answer_token_seconds",
            "Trial begin to first text of the answering turn: what a user waits for.",
            SECONDS,
        )
        self._duration = histogram("trial_duration_seconds", "Trial begin to trial end, successes.", SECONDS)
        self._scheduled = histogram(
            "trial_scheduled_duration_seconds",
            "Due time to trial end, successes: open loop only, the wait before sending is in it.",
            SECONDS,
        )
        self._tpot = histogram(
            "time_per_output_token_seconds", "Mean time between visible output tokens of a turn.", SHORT_SECONDS
        )
        self._retrieval = histogram(
            "retrieval_seconds", "Retrieval of a trial, waiting and computing, successes.", SHORT_SECONDS
        )
        self._tool_time = histogram("tool_seconds", "Tools of a trial, successes.", SHORT_SECONDS)
        self._turns = histogram("turns_per_trial", "Model calls of a trial.", TURNS)

    def _declare_gauges(self) -> None:
        self._in_flight = self._gauge("trials_in_flight", "Trials begun and not ended, over all workers.")
        self._target = self._gauge(
            "trials_in_flight_target", "Trials in flight that the stage asks for; NaN in open loop."
        )
        self._lag = self._gauge(
            "event_loop_lag_seconds", "Worst lateness of any worker's event loop over the last 10 seconds."
        )
        self._client_bound = self._gauge(
            "client_bound", "1 while the rig itself, or the simulator, is the bottleneck; NaN while that is not known."
        )
        self._client_bound.set(NOT_CHECKED)
        self._run = Info("loadrig_run", "The run that is shown.", registry=self.registry)


def code_of(attempt: Attempt) -> str:
    """The HTTP status, or the failure's reason when none came or the status was a good one: `200`, `429`, `timeout`."""
    status, failure = attempt.http_status, attempt.failure
    if failure is not None and (status is None or status < 400):
        return failure.reason
    return "none" if status is None else str(status)


def _observe(histogram: Histogram, place: tuple[str, ...], duration_ns: int | None) -> None:
    if duration_ns is not None:
        histogram.labels(*place).observe(_seconds(duration_ns))


def _seconds(duration_ns: int) -> float:
    return duration_ns / 1e9
