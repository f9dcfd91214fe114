"""The small protocol of `run --screen`, laid over a plan before the plan is paid for. Pure.

Arms: the control, which a screening has even where the plan has none; the rag arm whose k is nearest 5 (of two as near
the smaller k; where none has a k the first); full context, where the plan has it and the corpus fits the window of
every model whose window is known. Asked once: at most `QUESTIONS`, one of each category in turn, at the plan's lowest
load, in one pass. Flags that say how much is asked - arms, load, duration, repetitions, number of questions - are the
screening's and win over all this; every other flag holds for the full plan too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from loadrig.arms.control import Control
from loadrig.context import window_of
from loadrig.execution.estimate import TOKEN_RATIO
from loadrig.execution.options import Overrides, of_kind, overridden
from loadrig.words.arm import Arm
from loadrig.words.corpus import Corpus, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import LoadSettings, ModelSettings, Plan

QUESTIONS, NEAREST_K = 20, 5


@dataclass(frozen=True, slots=True)
class FullPlan:
    """What the plan would come to without --screen, as `loadrig plan` reckons it; warm-up is among the trials."""

    questions: int
    arms: tuple[str, ...]
    trials: int
    prompt_tokens: int
    output_tokens: int
    cost: str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Screened:
    """What became of a plan that was screened: how many questions at most, what was left out of it and why, and the
    full plan."""

    most: int
    left_out: tuple[str, ...]
    full: FullPlan


@dataclass(frozen=True, slots=True)
class Screening:
    """The plan to fire, over `most` of its questions, and the full one. `named`: its arms were named by hand."""

    plan: Plan
    full: Plan
    most: int
    named: bool


def laid_over(plan: Plan, flags: Overrides) -> Screening:
    """The screening of a plan. Raises `InputError` when the plan has nothing to hold against the control, and as
    `overridden` does."""
    sizes = Overrides(
        arm=flags.arm, concurrency=flags.concurrency, rate=flags.rate, duration_s=flags.duration_s,
        repetitions=flags.repetitions,
    )  # fmt: skip
    full = overridden(
        plan,
        replace(flags, arm=(), concurrency=(), rate=(), duration_s=None, repetitions=None, limit=None, one_pass=False),
    )
    arms = full.arms if flags.arm else _few(full.arms)
    small = overridden(replace(full, arms=arms, repetitions=1, load=_lowest(full.load)), sizes)
    return Screening(small, full, flags.limit or QUESTIONS, bool(flags.arm))


def spread(questions: Sequence[Question], most: int) -> tuple[Question, ...]:
    """At most so many, one of each category in turn, the first of each before the second of any; in file order."""
    categories: dict[str, list[Question]] = {}
    for question in questions:
        categories.setdefault(question.category, []).append(question)
    turns = (question for turn in zip_longest(*categories.values()) for question in turn if question is not None)
    chosen = {question.id for question in islice(turns, most)}
    return tuple(question for question in questions if question.id in chosen)


def too_wide(plan: Plan, corpus: Corpus) -> dict[str, str]:
    """The full-context arms whose prompt exceeds the known window of a model, and why, by name."""
    return dict(_too_wide(plan, corpus))


def _too_wide(plan: Plan, corpus: Corpus) -> Iterator[tuple[str, str]]:
    for arm in of_kind(plan.arms, "full_context"):
        for model in plan.model:
            tokens, window = _tokens(arm, model, corpus), window_of(model.id)
            if window is not None and tokens > window:
                yield (
                    arm.name,
                    f"{arm.name} is left out: about {tokens:,} tokens with the answer do not fit the {window:,} of "
                    f"{model.id}",
                )
                break


def _tokens(arm: Arm, model: ModelSettings, corpus: Corpus) -> int:
    return round(arm.prompt_tokens(corpus) * TOKEN_RATIO) + model.max_tokens


def _few(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    control = next(iter(of_kind(arms, "control")), Control())
    rags, whole = of_kind(arms, "rag"), of_kind(arms, "full_context")
    if not rags and not whole:
        have = ", ".join(arm.name for arm in arms)
        raise InputError(
            f"nothing to screen: the plan has neither rag nor full_context, only {have}",
            remedy="name the arms to hold against the control with --arm, the control among them",
        )
    return (control, *sorted(rags, key=_distance)[:1], *whole[:1])


def _distance(arm: Arm) -> tuple[bool, int, int]:
    """Sorts by how far k is from 5; an arm without a k comes last."""
    k = getattr(arm, "k", None)
    return (False, abs(k - NEAREST_K), k) if isinstance(k, int) else (True, 0, 0)


def _lowest(load: LoadSettings) -> LoadSettings:
    """One pass at the lowest level alone; a replay has its own times, and is one pass anyway."""
    if load.replay:
        return load
    if load.rate is not None:
        return replace(load, rate=(min(load.rate),), cycle=False, duration_s=None)
    return replace(load, concurrency=(min(load.levels),), cycle=False, duration_s=None)
