"""What the rig knows of its own part in the figures, by stage: how late and how busy each of its processes was, with
how much in flight, and whose stamps the replies have.

Lags go into a sketch a process and stage, so memory does not grow with the run. A process that is expected and tells
nothing has a row all the same, without figures: not checked is not the same as not late. The live mark goes by the rule
of the reports (`loadrig.bound`), on the samples and first-token times so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from loadrig import bound
from loadrig.fleet.hours import Offset
from loadrig.sketch import Sketch
from loadrig.stamps import StampCount, replies_of
from loadrig.words.record import Record, succeeded
from loadrig.words.trial import Pulse, Stage
from loadrig.worker.messages import Batch
from loadrig.worker.probe import Pauses, Vitals


@dataclass(frozen=True, slots=True)
class SelfMeasurement:
    """One process in one stage: a worker by its name, `driver`, `simulator`. Lags in nanoseconds; `cpu_share_max` of
    one core over any five seconds, None in a shorter stage; `gc_*` of full garbage collections; `in_flight_target` the
    most it was told to keep in flight, `in_flight_max` the most it had: None where trials do not pass."""

    stage: str
    process: str
    lag_n: int
    lag_p50_ns: int | None
    lag_p99_ns: int | None
    lag_max_ns: int | None
    cpu_share_max: float | None
    loop: str | None
    gc_pauses: int | None
    gc_total_ns: int | None
    gc_max_ns: int | None
    in_flight_target: int | None
    in_flight_max: int | None


@dataclass(slots=True)
class _Process:
    lags: Sketch = field(default_factory=Sketch)
    cpu_share_max: float | None = None
    loop: str | None = None
    pauses: Pauses | None = None
    in_flight_target: int | None = None
    in_flight_max: int | None = None
    latest: Vitals = field(default_factory=Vitals)

    def causes(self, name: str, ttft_p50_ns: int | None) -> tuple[bound.Cause, ...]:
        lag_ns, cpu = self.lags.quantile_ns(0.99), self.cpu_share_max
        return bound.causes(name, lag_p99_ns=lag_ns, cpu_share_max=cpu, ttft_p50_ns=ttft_p50_ns)


@dataclass(slots=True)
class _Replies:
    """What records tell of a stage."""

    ttft: Sketch = field(default_factory=Sketch)
    stamps: StampCount = field(default_factory=StampCount)
    read_lags: Sketch = field(default_factory=Sketch)
    read_lag_max_ns: int | None = None


class SelfWatch:
    """Collects what batches say of their worker, what the processes beside them say, and what records say of stamps."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, _Process]] = {}
        self._replies: dict[str, _Replies] = {}
        self._clocks: list[dict[str, Any]] = []

    def expect(self, stage: str, processes: Iterable[str]) -> None:
        """Processes that take part in a stage."""
        for name in processes:
            self._process(stage, name)

    def note(self, stage: str, process: str, vitals: Vitals) -> None:
        """What a process saw of itself since it was last asked."""
        seen = self._process(stage, process)
        for lag_ns in vitals.lags_ns:
            seen.lags.record(lag_ns)
        if vitals.cpu_share is not None:
            seen.cpu_share_max = max(seen.cpu_share_max or 0.0, round(vitals.cpu_share, 3))
        seen.loop = vitals.loop or seen.loop
        seen.pauses = (seen.pauses or Pauses()) + vitals.pauses
        seen.latest = vitals

    def add(self, record: Record) -> None:
        """A record as it is written."""
        replies = self._replies.setdefault(record.stage, _Replies())
        if record.phase == "measured" and succeeded(record) and record.trial_ttft_ns is not None:
            replies.ttft.record(record.trial_ttft_ns)
        for attempt in replies_of(record):
            replies.stamps.add(attempt)
            if attempt.read_lag_ns is not None:
                replies.read_lags.record(attempt.read_lag_ns)
            if attempt.read_lag_max_ns is not None:
                replies.read_lag_max_ns = max(replies.read_lag_max_ns or 0, attempt.read_lag_max_ns)

    def pulse(self, stage: Stage, worker: str, batch: Batch, in_flight: int, workers: int) -> Pulse:
        """Notes a batch and returns the state of the rig for the observers."""
        self.note(stage.name, worker, batch.vitals)
        seen = self._process(stage.name, worker)
        seen.in_flight_target = max(seen.in_flight_target or 0, batch.credits)
        seen.in_flight_max = max(seen.in_flight_max or 0, batch.in_flight)
        processes = self._seen[stage.name]
        of_workers = [one.latest for one in processes.values() if one.in_flight_target is not None]
        ttft_p50_ns = self._replies[stage.name].ttft.quantile_ns(0.5) if stage.name in self._replies else None
        causes = {name: one.causes(name, ttft_p50_ns) for name, one in processes.items()}
        return Pulse(
            stage=stage.name,
            in_flight=in_flight,
            target=stage.concurrency,
            rate_per_s=None if stage.open_loop is None else stage.open_loop.rate_per_s,
            workers=workers,
            lag_ns=max((max(one.lags_ns, default=0) for one in of_workers), default=0),
            cpu_share=max(one.cpu_share or 0.0 for one in of_workers),
            client_bound=bound.any_bound(
                bound.is_bound(causes[name], one.lags.quantile_ns(0.99)) for name, one in processes.items()
            ),
            bound_by=tuple(str(cause) for found in causes.values() for cause in found),
        )

    def note_clock(self, stage: str, worker: str, offset: Offset) -> None:
        """How well a worker's clock is known in an open-loop stage."""
        self._clocks.append(
            {"stage": stage, "worker": worker, "error_ns": offset.error_ns, "round_trips": offset.round_trips}
        )

    def clocks(self) -> tuple[dict[str, Any], ...]:
        """One row an open-loop stage and worker, for the manifest: by how much at most its due times are off (ns)."""
        return tuple(self._clocks)

    def measurements(self) -> tuple[SelfMeasurement, ...]:
        """One row a stage and process, for the manifest."""
        return tuple(_row(stage, name, one) for stage, seen in self._seen.items() for name, one in seen.items())

    def stamps(self) -> tuple[dict[str, Any], ...]:
        """One row a stage, for the manifest: whose stamps its replies have, and how late the client read them (ns)."""
        return tuple(
            {
                "stage": stage, **asdict(of.stamps), "read_lag_p50_ns": of.read_lags.quantile_ns(0.5),
                "read_lag_p99_ns": of.read_lags.quantile_ns(0.99), "read_lag_max_ns": of.read_lag_max_ns,
            }
            for stage, of in self._replies.items()
        )  # fmt: skip

    def _process(self, stage: str, name: str) -> _Process:
        return self._seen.setdefault(stage, {}).setdefault(name, _Process())


def _row(stage: str, name: str, seen: _Process) -> SelfMeasurement:
    pauses = seen.pauses
    return SelfMeasurement(
        stage, name, seen.lags.count, seen.lags.quantile_ns(0.5), seen.lags.quantile_ns(0.99), seen.lags.max_ns,
        seen.cpu_share_max, seen.loop, pauses.count if pauses else None, pauses.total_ns if pauses else None,
        pauses.max_ns if pauses else None, seen.in_flight_target, seen.in_flight_max,
    )  # fmt: skip
