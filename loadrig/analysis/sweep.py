"""Stages of rising load as one curve: throughput against latency, goodput, money an hour, the knee and the bracket.

Throughput is that of the stage's steady window (closed loop) or measured part (open loop), all arms together; an arm
has its share of the window's successes, for arms of one stage share its load. Goodput = throughput x the share of timed
successes that were answered and met every limit of a single trial. Money an hour = money of the asked trials / their
successes x throughput x 3600. A load that was run twice is judged over both stages.

A stage is held against one of at most half its load, the highest, else against the next lower. The knee is that of
`loadrig.knee`; a stage beyond it that was client-bound makes it the rig's, and nothing is said of the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from loadrig.analysis.bill import currency_of, per_question, plain
from loadrig.analysis.judging import Judged, good_share, judged, objectives_of
from loadrig.analysis.load import StageLoad
from loadrig.analysis.saturation import Cause, Limits, cause, is_saturated, limits, point
from loadrig.analysis.selection import asked, grouped, timed
from loadrig.knee import Knee, Point, knee
from loadrig.log import RunFolder
from loadrig.objectives import Verdict, together
from loadrig.search import Bracket, Tried, bracket
from loadrig.words.record import Record, succeeded

STAGES = 2  # of different load make a sweep


@dataclass(frozen=True, slots=True)
class Rates:
    """An hour and a second of a stage, or of one arm and model in it. `cost_per_hour` is None where a charge is
    unknown; `goodput_per_s` without objectives."""

    stage: str
    arm: str | None
    model: str | None
    per_s: float | None
    goodput_per_s: float | None
    output_tokens_per_s: float | None
    cost_per_hour: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A stage of the sweep. `load`: in flight, or due a second. `verdict` over `judged`, None without objectives.
    `cause`: why it was saturated or did not keep an objective."""

    stage: str
    load: float
    rates: Rates
    saturated: bool
    cause: Cause | None
    judged: tuple[Judged, ...]
    verdict: Verdict | None
    met: Limits
    little: float | None
    client_bound: bool | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """`unit` of the loads. `searched`: for the highest load that keeps the objectives, which `bracket` holds; `ended`
    says why no more was run. `knee_cause` is what the target shows beyond the knee; None where it was not reached."""

    unit: Literal["in flight", "a second"]
    searched: bool
    ended: str | None
    steps: tuple[Step, ...]
    arms: tuple[Rates, ...]
    knee: Knee | None
    knee_cause: Cause | None
    bracket: Bracket | None


def sweep(run: RunFolder, stages: Sequence[StageLoad]) -> Sweep | None:
    """The sweep that a run's stages are; None of fewer than two loads, where no sweep was asked for."""
    told: dict[str, Any] = run.manifest.get("sweep") or {}
    if not told and len({_load(stage) for stage in stages}) < STAGES:
        return None
    found = steps(run, stages)
    curve = knee([known for stage in stages if (known := point(stage)) is not None])
    return Sweep(
        unit="a second" if any(stage.open_loop for stage in stages) else "in flight",
        searched=bool(told.get("searched")),
        ended=told.get("ended"),
        steps=found,
        arms=_arms(run, stages),
        knee=curve,
        knee_cause=_knee_cause(found, stages, curve),
        bracket=bracket(tried(found)) if objectives_of(run) else None,
    )


def steps(run: RunFolder, stages: Sequence[StageLoad]) -> tuple[Step, ...]:
    """Every stage in the order it ran."""
    sent = grouped((record.stage, record) for record in asked(run))
    objectives = objectives_of(run)
    found = []
    for number, stage in enumerate(stages):
        same = [one.stage for one in stages[: number + 1] if _load(one) == _load(stage)]
        verdicts = judged(run, objectives, same)
        met, past = limits(sent.get(stage.stage, [])), is_saturated(stage, _below(stage, stages))
        verdict = together(one.verdict for one in verdicts) if objectives else None
        found.append(
            Step(
                stage=stage.stage,
                load=_load(stage),
                rates=_rates(run, stage, sent.get(stage.stage, [])),
                saturated=past,
                cause=cause(stage, met) if past or verdict == "broken" else None,
                judged=verdicts,
                verdict=verdict,
                met=met,
                little=stage.little,
                client_bound=stage.client_bound,
            )
        )
    return tuple(found)


def tried(found: Sequence[Step]) -> list[Tried]:
    """What a search learnt of each load, in the order they were first tried: the last verdict on it counts."""
    loads = grouped((step.load, step) for step in found)
    return [
        Tried(load, of[-1].verdict or "undecided", of[-1].saturated, len(of)) for load, of in loads.items()
    ]  # fmt: skip


def _knee_cause(found: Sequence[Step], stages: Sequence[StageLoad], curve: Knee | None) -> Cause | None:
    """That of the lowest saturated stage; without one, of the highest load, if the knee lies below it."""
    past = sorted((step for step in found if step.saturated), key=lambda step: step.load)
    if past or curve is None or not curve.reached:
        return past[0].cause if past else None
    highest = max(range(len(found)), key=lambda place: found[place].load)
    return cause(stages[highest], found[highest].met)


def _load(stage: StageLoad) -> float:
    return stage.concurrency or 0 if stage.open_loop is None else stage.open_loop.rate_per_s


def _below(stage: StageLoad, stages: Sequence[StageLoad]) -> Point | None:
    """The point that the stage is held against."""
    lower = sorted((one for one in stages if _load(one) < _load(stage)), key=_load)
    far = [one for one in lower if 2 * _load(one) <= _load(stage)]
    chosen = (far or lower)[-1:]
    return point(chosen[0]) if chosen else None


def _arms(run: RunFolder, stages: Sequence[StageLoad]) -> tuple[Rates, ...]:
    sent = grouped(((record.arm, record.model, record.stage), record) for record in asked(run))
    return tuple(
        _rates(run, stage, mine, of=(arm, model))
        for (arm, model, name), mine in sent.items()
        for stage in stages if stage.stage == name
    )  # fmt: skip


def _rates(
    run: RunFolder, stage: StageLoad, sent: Sequence[Record], *, of: tuple[str, str] | tuple[None, None] = (None, None)
) -> Rates:
    names = {record.trial for record in sent}
    timings = [record for record in timed(run) if record.trial in names]
    known = point(stage)
    successes, good = sum(map(succeeded, sent)), good_share(timings, objectives_of(run))
    whole = sum(record.stage == stage.stage and succeeded(record) for record in asked(run))
    per_s = known.per_s * successes / whole if known is not None and whole else None
    cost = per_question(sent, currency_of(run), correct=None).total
    tokens = [record.usage.output for record in sent if record.usage is not None and record.usage.output is not None]
    dear = None
    if per_s is not None and successes and cost.amount is not None and not cost.unknown:
        dear = plain(round(Decimal(cost.amount) / successes * Decimal(str(round(per_s, 6))) * 3600, 6))
    return Rates(
        stage=stage.stage,
        arm=of[0],
        model=of[1],
        per_s=per_s,
        goodput_per_s=None if per_s is None or good is None else per_s * good,
        output_tokens_per_s=None if per_s is None or not successes else per_s * sum(tokens) / successes,
        cost_per_hour=dear,
    )
