"""Trials and stages: the plan of a run as plain values, and what observers of a run are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from loadrig.words.record import Failure, Outcome, Phase, Record


@dataclass(frozen=True, slots=True)
class Trial:
    """One planned answer. `id` is stable: the same stage, phase, arm, model, question and repetition give the same
    id on every machine. `position` is its place in the plan's order. `try_no` rises when it is asked again."""

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
class Stage:
    """A period of constant load: N trials in flight (closed loop)."""

    name: str
    concurrency: int


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
    pulse; `cpu_share` the busiest worker's CPU share of one core over the last seconds."""

    stage: str
    in_flight: int
    target: int
    workers: int
    lag_ns: int
    cpu_share: float
    client_bound: bool


class Observer(Protocol):
    """Watches a run from the driver: the progress view and the metrics endpoint are observers.

    Every method returns at once and must not raise. `record` is called once for each record as it is written.
    """

    def started(self, info: RunInfo) -> None: ...
    def record(self, record: Record) -> None: ...
    def pulse(self, pulse: Pulse) -> None: ...
    def finished(self) -> None: ...
