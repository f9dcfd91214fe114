"""What the trials of a plan will use and cost: an estimate, made before anything is sent. Pure.

prompt tokens of a trial = what its arm asks, by the local estimator x the model's ratio. The ratio is the provider's
own count of a sample prompt over the local one (see `calibration`), else `TOKEN_RATIO`. Assumed, because nobody can
know: `OUTPUT_TOKENS` a trial; an agent's number of turns (its arm's guess); of a prefix that an arm asks the endpoint
to keep, and that its questions share, that every trial reads it, each distinct one written once beforehand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

import msgspec

from loadrig.cost import Price, Prices
from loadrig.execution.kept import Kept
from loadrig.execution.sampling import Sample
from loadrig.fleet.spending import WorstCase
from loadrig.plan import TYPICAL_S
from loadrig.words.prompt import Lifetime
from loadrig.words.record import Usage
from loadrig.words.settings import ModelSettings
from loadrig.words.trial import Stage, Trial

OUTPUT_TOKENS = 300  # of a trial, thinking included
TOKEN_RATIO = Decimal("1.3")  # provider's count over o200k_base where none is known: 1.13 and 1.54 were seen, by model
ASSUMED = (
    f"{OUTPUT_TOKENS} output tokens a trial",
    "a prefix that is kept is written once and read by every trial",
    "an agent's turns: its arm's guess",
)


@dataclass(frozen=True, slots=True)
class Ratios:
    """Provider's tokens over local ones, by kind of arm and model id. `by_model` is that of the model's largest counted
    prompt, for kinds that were not counted. `notes` say which models have none, and why."""

    by_kind: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    by_model: Mapping[str, Decimal] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, kind: str, model: str) -> Decimal:
        return self.by_kind.get((kind, model), self.by_model.get(model, TOKEN_RATIO))


@dataclass(frozen=True, slots=True)
class ArmEstimate:
    """One arm and model: `trials` of `prompt_tokens` each. `calibrated`: by the provider's count; `guessed`: the number
    of turns, or what is found, is the arm's guess. `kept_tokens` of a prompt are a prefix that is kept for `lifetime`,
    of which there are `prefixes`: 0 where each trial has its own."""

    arm: str
    model: str
    trials: int
    prompt_tokens: int
    ratio: Decimal
    calibrated: bool
    guessed: bool
    kept_tokens: int = 0
    lifetime: Lifetime | None = None
    prefixes: int = 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """All trials. `cost` is None when a model has no price. `worst` is one trial at its worst, as far as that can be
    foreseen: its prompts as estimated, and every token of output that its model may give."""

    arms: tuple[ArmEstimate, ...]
    prompt_tokens: int
    output_tokens: int
    cost: Decimal | None
    worst: WorstCase
    notes: tuple[str, ...] = ()


def estimated(
    samples: Sequence[Sample],
    trials: Sequence[Trial],
    prices: Prices,
    *,
    models: Sequence[ModelSettings],
    ratios: Ratios | None = None,
) -> Estimate:
    """The estimate at today's prices."""
    ratios = ratios or Ratios()
    day = datetime.now(UTC).date()
    by_arm = {sample.arm: sample for sample in samples}
    arms = []
    for (arm, model), count in Counter((trial.arm, trial.model) for trial in trials).items():
        sample = by_arm[arm]
        ratio = ratios.of(sample.kind, model)
        calibrated = model in ratios.by_model
        kept = cached(sample, ratio, prices.price(model, day))
        arms.append(
            ArmEstimate(
                arm, model, count, round(sample.tokens * ratio), ratio, calibrated, sample.guessed,
                kept_tokens=round(kept.mean_tokens * ratio) if kept else 0,
                lifetime=kept.lifetime if kept else None,
                prefixes=kept.prefixes if kept and kept.parted is None else 0,
            )
        )  # fmt: skip
    costs = [_cost(one, prices, day) for one in arms]
    known = [cost for cost in costs if cost is not None]
    return Estimate(
        arms=tuple(arms),
        prompt_tokens=sum(one.prompt_tokens * one.trials for one in arms),
        output_tokens=OUTPUT_TOKENS * len(trials),
        cost=sum(known, Decimal(0)) if len(known) == len(costs) else None,
        worst=_worst(arms, prices, {model.id: model.max_tokens for model in models}),
        notes=ratios.notes,
    )


def seconds(stages: Sequence[Stage], trials: Sequence[Trial]) -> float:
    """How long the stages last if a trial takes `TYPICAL_S`."""
    counts = Counter(trial.stage for trial in trials)
    return math.fsum(_seconds(stage, counts[stage.name]) for stage in stages)


def _seconds(stage: Stage, trials: int) -> float:
    if stage.open_loop is not None:
        return stage.open_loop.length_ns / 1e9 + TYPICAL_S
    return min(TYPICAL_S * trials / stage.most, stage.duration_s or math.inf)


def cached(sample: Sample, ratio: Decimal, price: Price | None) -> Kept | None:
    """What of an arm's prompts is kept; None where it is too short for its model, or how often it is sent a guess."""
    kept = None if sample.guessed else sample.kept
    least = price.cache_minimum if price else None
    return None if kept and least and kept.mean_tokens * ratio < least else kept


def _cost(one: ArmEstimate, prices: Prices, day: date) -> Decimal | None:
    """What all trials of an arm will cost, with the writing of what they share; None: no price."""
    trial = prices.cost(one.model, _usage(one, OUTPUT_TOKENS, writes=not one.prefixes), day).amount
    written = prices.cost(one.model, writing(one.kept_tokens, one.lifetime), day).amount
    return None if trial is None or written is None else trial * one.trials + written * one.prefixes


def _usage(one: ArmEstimate, output: int, *, writes: bool) -> Usage:
    """What one trial uses, the prefix it keeps written or read."""
    kept = writing(one.kept_tokens, one.lifetime) if writes else Usage(cache_read=one.kept_tokens)
    return msgspec.structs.replace(kept, input=max(0, one.prompt_tokens - one.kept_tokens), output=output)


def writing(tokens: int, lifetime: Lifetime | None) -> Usage:
    """What writing a prefix once uses; nothing where it has no tokens."""
    if lifetime == "1h":
        return Usage(input=0, output=0, cache_write_1h=tokens)
    return Usage(input=0, output=0, cache_write_5m=tokens)


def _worst(arms: Sequence[ArmEstimate], prices: Prices, most_output: Mapping[str, int]) -> WorstCase:
    day = datetime.now(UTC).date()
    usages = [(one.model, _usage(one, most_output[one.model], writes=True)) for one in arms]
    costs = [prices.cost(model, usage, day).amount for model, usage in usages]
    tokens = max((one.prompt_tokens + most_output[one.model] for one in arms), default=0)
    return WorstCase(max((cost for cost in costs if cost is not None), default=Decimal(0)), tokens)
