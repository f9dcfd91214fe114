"""What the rig knows of its own part in the figures: every worker's lag, CPU, pauses and trials in flight, by stage.

Lags go into a sketch a worker and stage, so memory does not grow with the run. Whether a stage was client-bound is
decided by the read side, which knows its first-token times; the live mark uses the absolute limits only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from loadrig.sketch import Sketch
from loadrig.words.trial import Pulse, Stage
from loadrig.worker.messages import Batch
from loadrig.worker.probe import Pauses, Vitals

LAG_LIMIT_NS = 5_000_000
CPU_LIMIT = 0.85


@dataclass(frozen=True, slots=True)
class SelfMeasurement:
    """One worker in one stage. Lags in nanoseconds; `cpu_share_max` of one core over any five seconds; `gc_*` of full
    garbage collections; `in_flight_target` the most it was told to keep in flight, `in_flight_max` the most it had."""

    stage: str
    worker: str
    lag_n: int
    lag_p50_ns: int | None
    lag_p99_ns: int | None
    lag_max_ns: int | None
    cpu_share_max: float
    loop: str
    gc_pauses: int
    gc_total_ns: int
    gc_max_ns: int
    in_flight_target: int
    in_flight_max: int


@dataclass(slots=True)
class _Worker:
    lags: Sketch = field(default_factory=Sketch)
    cpu_share_max: float = 0.0
    loop: str = ""
    pauses: Pauses = field(default_factory=Pauses)
    in_flight_target: int = 0
    in_flight_max: int = 0
    latest: Vitals = field(default_factory=Vitals)

    @property
    def is_bound(self) -> bool:
        return (self.lags.quantile_ns(0.99) or 0) > LAG_LIMIT_NS or self.cpu_share_max > CPU_LIMIT


class SelfWatch:
    """Collects what batches say of their worker."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], _Worker] = {}

    def pulse(self, stage: Stage, worker: str, batch: Batch, in_flight: int, workers: int) -> Pulse:
        """Notes a batch and returns the state of the rig for the observers."""
        seen, vitals = self._seen.setdefault((stage.name, worker), _Worker()), batch.vitals
        for lag_ns in vitals.lags_ns:
            seen.lags.record(lag_ns)
        seen.cpu_share_max = max(seen.cpu_share_max, vitals.cpu_share)
        seen.loop = vitals.loop or seen.loop
        seen.pauses += vitals.pauses
        seen.in_flight_target = max(seen.in_flight_target, batch.credits)
        seen.in_flight_max = max(seen.in_flight_max, batch.in_flight)
        seen.latest = vitals
        others = [one for (name, _), one in self._seen.items() if name == stage.name]
        return Pulse(
            stage=stage.name,
            in_flight=in_flight,
            target=stage.concurrency,
            workers=workers,
            lag_ns=max((max(one.latest.lags_ns, default=0) for one in others), default=0),
            cpu_share=max(one.latest.cpu_share for one in others),
            client_bound=any(one.is_bound for one in others),
        )

    def measurements(self) -> tuple[SelfMeasurement, ...]:
        """One row a stage and worker, for the manifest."""
        return tuple(
            SelfMeasurement(
                stage, worker, seen.lags.count, seen.lags.quantile_ns(0.5), seen.lags.quantile_ns(0.99),
                seen.lags.max_ns, round(seen.cpu_share_max, 3), seen.loop, seen.pauses.count, seen.pauses.total_ns,
                seen.pauses.max_ns, seen.in_flight_target, seen.in_flight_max,
            )
            for (stage, worker), seen in self._seen.items()
        )  # fmt: skip
