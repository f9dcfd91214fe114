"""Trials and stages: the plan of a run as plain values, and what observers of a run are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

from loadrig.words.record import Failure, Outcome, Phase, Record


class Trial(msgspec.Struct, frozen=True, gc=False):
    """One planned answer. `id` is stable: the same stage, phase, arm, model, question and repetition give the same
    id on every machine. `position` is its place in the plan's order. `try_no` rises when it is asked again. `due_ns`:
    nanoseconds from its stage's begin to the instant at which it is due; None in closed loop."""

    id: str
    position: int
    arm: str
    model: str
    question: str
    category: str
    repetition: int
    stage: str
    phase: Phase
    try_no: int = 1
    due_ns: int | None = None


def unasked(
    trial: Trial, run: str, outcome: Outcome, reason: str, *, failure: Failure | None = None, worker: str | None = None
) -> Record:
    """The record of a trial that no worker answers for. What was never begun is no try: it counts one less."""
    return Record(
        run=run,
        trial=trial.id,
        try_no=trial.try_no - (outcome == "not_run"),
        arm=trial.arm,
        model=trial.model,
        question=trial.question,
        category=trial.category,
        repetition=trial.repetition,
        stage=trial.stage,
        phase=trial.phase,
        outcome=outcome,
        reason=reason,
        failure=failure,
        worker=worker,
    )


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """How a stage's trials come due: `rate_per_s` on average (of a replay, what it comes to). Due times count from the
    stage's begin; those before `measured_from_ns` are warm-up; it ends at `length_ns`, when trials in flight go on."""

    arrivals: Literal["poisson", "constant", "replay"]
    rate_per_s: float
    ramp_s: float
    max_in_flight: int
    measured_from_ns: int
    length_ns: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A period of constant load. Closed loop: `concurrency` trials in flight, for `duration_s` or until all are done.
    Open loop: `concurrency` is None and `open_loop` says how trials come due."""

    name: str
    concurrency: int | None
    open_loop: OpenLoop | None = None
    duration_s: float | None = None

    @property
    def most(self) -> int:
        """Trials that may be in flight."""
        return self.open_loop.max_in_flight if self.open_loop is not None else self.concurrency or 1


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What an observer learns when a run starts. `planned` counts trials of every phase, warm-up included."""

    run: str
    plan: str
    version: str
    planned: int
    currency: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class Pulse:
    """The state of the rig about ten times a second. `lag_ns` is the worst loop lag over workers since the last
    pulse; `cpu_share` the busiest worker's CPU share of one core over the last seconds. `client_bound`: the rig itself
    is the bottleneck, of which `bound_by` names the causes; None while a process of it has not been sampled. `target`:
    trials that are to be in flight; None in open loop, where `rate_per_s` are due."""

    stage: str
    in_flight: int
    target: int | None
    workers: int
    lag_ns: int
    cpu_share: float
    client_bound: bool | None
    bound_by: tuple[str, ...] = ()
    rate_per_s: float | None = None


class Observer(Protocol):
    """Watches a run from the driver: the progress view and the metrics endpoint are observers.

    Every method returns at once and must not raise. `record` is called once for each record as it is written.
    """

    def started(self, info: RunInfo) -> None: ...
    def record(self, record: Record) -> None: ...
    def pulse(self, pulse: Pulse) -> None: ...
    def finished(self) -> None: ...
