"""A run as Prometheus metrics: an observer of the driver's records and pulses, and the one home of the metric names.

Rules: a record is counted once, when it is written, so no counter ever falls; a worker that dies leaves no series
behind, because nothing is labelled with it. Labels come from small fixed sets: arm, model, stage and phase of the
plan, outcomes and reasons, HTTP codes, token kinds, the tools' names. The run's id stands in `loadrig_run_info`
only. Latencies are those of successes (answered, or cut off with text): failures are counted, not timed. Buckets
reach 300 s. There are no `_created` series. What the run will count is shown at 0 from before its first trial, so that
the first event is a rise that `rate` sees. Gauges end with the run: nothing in flight, and what is unknown is NaN.
Knows nothing of HTTP (see `endpoint.py`, `pushing.py`), prices nothing, and computes no percentile but those of the
last ten seconds (see `windowed.py`).
"""

from __future__ import annotations

from decimal import Decimal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, disable_created_metrics

from loadrig.live.ahead import Ahead
from loadrig.live.recent import Peak
from loadrig.live.windowed import Windowed
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
Place = tuple[str, str, str, str]
PLACE = ("arm", "model", "stage", "phase")
TOOLS = ("list_documents", "search", "read")
TOOL_NAMES_MAX = 32
KINDS = ("input", "cache_write", "cache_read", "output")
CODES = ("200", "429", "529")
OUTCOMES = {
    "answered": ("",),
    "unanswered": ("cut_off", "starved", "refused", "empty", "turn_cap", "budget", "loop", "other"),
    "failed": ("connect", "tls", "timeout", "rate_limited", "overloaded", "http_4xx", "http_5xx", "stream_error",
               "incomplete", "protocol", "cancelled", "lost"),
    "not_run": ("late", "stopped", "budget"),
}  # fmt: skip
NOT_CHECKED = float("nan")


class Metrics:
    """An `Observer` that keeps the metrics of one run in a registry of its own, safe to scrape from any thread."""

    def __init__(self, clock: Clock | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry(auto_describe=True)
        self._clock = clock or SystemClock()
        self._currency = ""
        self._to_come = 0
        self._tools = set(TOOLS)
        self._lags = Peak()
        self._ahead: Ahead | None = None
        self._stage: str | None = None
        self._windowed = Windowed(self._clock)
        self.registry.register(self._windowed)
        self._declare_counters()
        self._declare_histograms()
        self._declare_gauges()

    def expect(self, ahead: Ahead) -> None:
        """Shows at 0 what the run will count, and of its first stage what it will time."""
        self._ahead = ahead
        for stage in ahead.stages[:1] if ahead.is_steered else ahead.stages:
            self._count_from_zero(stage.name)
        for stage in ahead.stages[:1]:
            self._time_from_none(stage.name)

    def started(self, info: RunInfo) -> None:
        self._currency = info.currency
        self._planned.inc(info.planned)
        self._to_come += info.planned
        labels = {"run": info.run, "plan": info.plan, "version": info.version, "simulated": str(info.simulated).lower()}
        self._run.info(labels)

    def record(self, record: Record) -> None:
        place = (record.arm, record.model, record.stage, record.phase)
        self._windowed.record(record)
        self._to_come -= 1
        if self._to_come < 0:  # how many a stage of a stated duration has room for was a guess
            self._planned.inc()
            self._to_come = 0
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
        self._lags.add(pulse.lag_ns, now_ns)
        self._lag.set(_seconds(self._lags.largest(now_ns) or 0))
        if pulse.stage != self._stage:
            self._begin(pulse)

    def finished(self) -> None:
        """Nothing is in flight any more and nothing is recent; the totals stay for the last scrape."""
        self._in_flight.set(0)
        self._target.set(0)
        self._lag.set(NOT_CHECKED)
        self._client_bound.set(NOT_CHECKED)
        self._load.clear()
        self._windowed.clear()

    def _count_from_zero(self, stage: str) -> None:
        if self._ahead is None:
            return
        for place in _places(self._ahead, stage):
            for outcome, reasons in OUTCOMES.items():
                for reason in reasons:
                    self._trials.labels(*place, outcome, reason)
            for code in CODES:
                self._attempts.labels(*place, code)
            for kind in KINDS:
                self._tokens.labels(*place, kind)
            self._thinking.labels(*place)
            self._cost.labels(*place, self._ahead.currency)
            self._backoff.labels(place[1])

    def _begin(self, pulse: Pulse) -> None:
        """Of a stage: what it asks for, and no other stage any more; then what it will count and time."""
        self._stage = pulse.stage
        self._load.clear()
        asked = pulse.target if pulse.rate_per_s is None else pulse.rate_per_s
        self._load.labels(pulse.stage).set(NOT_CHECKED if asked is None else asked)
        self._count_from_zero(pulse.stage)
        self._time_from_none(pulse.stage)

    def _time_from_none(self, stage: str) -> None:
        """Shows a stage's histograms, empty. They are many lines: those of later stages come when these begin."""
        if self._ahead is None:
            return
        is_open = any(one.is_open for one in self._ahead.stages)
        for place in _places(self._ahead, stage):
            for histogram in self._timed:
                if is_open or histogram is not self._scheduled:
                    histogram.labels(*place)

    def _observe_turn(self, place: Place, turn: Turn) -> None:
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

    def _count_tokens(self, place: Place, usage: Usage | None) -> None:
        if usage is None:
            return
        writes = [usage.cache_write_5m, usage.cache_write_1h]
        counts = (usage.input, sum(count or 0 for count in writes), usage.cache_read, usage.output)
        for kind, count in zip(KINDS, counts, strict=True):
            self._tokens.labels(*place, kind).inc(max(count or 0, 0))
        self._thinking.labels(*place).inc(max(usage.thinking or 0, 0))

    def _count_cost(self, place: Place, record: Record) -> None:
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
        self._timed = (
            self._ttft, self._ttfat, self._duration, self._scheduled, self._tpot, self._retrieval, self._tool_time,
            self._turns,
        )  # fmt: skip

    def _declare_gauges(self) -> None:
        self._in_flight = self._gauge("trials_in_flight", "Trials begun and not ended, over all workers.")
        self._target = self._gauge(
            "trials_in_flight_target", "Trials in flight that the stage asks for; NaN in open loop."
        )
        self._load = Gauge(
            "loadrig_stage_load",
            "What the running stage asks for: trials in flight, or trials a second in open loop.",
            ("stage",),
            registry=self.registry,
        )
        self._lag = self._gauge(
            "event_loop_lag_seconds", "Worst lateness of any worker's event loop over the last 10 seconds."
        )
        self._client_bound = self._gauge(
            "client_bound", "1 while the rig itself, or the simulator, is the bottleneck; NaN while that is not known."
        )
        self._client_bound.set(NOT_CHECKED)
        self._run = Info("loadrig_run", "The run that is shown.", registry=self.registry)


def _places(ahead: Ahead, stage: str) -> list[Place]:
    return [(arm, model, stage, phase) for arm, model, phase in sorted(ahead.lanes)]


def code_of(attempt: Attempt) -> str:
    """The HTTP status, or the failure's reason when none came or the status was a good one: `200`, `429`, `timeout`."""
    status, failure = attempt.http_status, attempt.failure
    if failure is not None and (status is None or status < 400):
        return failure.reason
    return "none" if status is None else str(status)


def _observe(histogram: Histogram, place: Place, duration_ns: int | None) -> None:
    if duration_ns is not None:
        histogram.labels(*place).observe(_seconds(duration_ns))


def _seconds(duration_ns: int) -> float:
    return duration_ns / 1e9
