"""What the command line may change in a plan, and what of a run is no part of a plan."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loadrig.plan import mistake
from loadrig.words.arm import Arm
from loadrig.words.errors import InputError
from loadrig.words.settings import Fleet, Objective, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """One field for each flag that overrides the plan; None leaves the plan as it is."""

    base_url: str | None = None
    scenario: str | None = None
    corpus: str | None = None
    slice: str | None = None
    questions: str | None = None
    categories: tuple[str, ...] = ()
    arm: tuple[str, ...] = ()
    concurrency: tuple[int, ...] = ()
    rate: tuple[float, ...] = ()
    duration_s: float | None = None
    workers: int | None = None
    fleet: Fleet | None = None
    limit: int | None = None
    repetitions: int | None = None
    budget: str | None = None
    one_pass: bool = False
    objectives: tuple[Objective, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to run: where results go, what watches, what to take up again, and whether to screen instead."""

    out: Path = Path("results")
    folder: Path | None = None  # of a new run; None: one below `out`, named after the plan and the time
    resume: Path | None = None
    retry_failed: bool = False
    inline: bool = False
    confirmed: bool = False
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    linger_s: float = 0.0
    pushgateway: str | None = None
    screen: bool = False
    deadline_s: float | None = None  # after so many seconds the run stops as by a signal
    command_line: str = ""


def command_line(secret: str | None = None) -> str:
    """How loadrig was called, as a shell would take it, with `...` in the place of a secret."""
    words = [Path(sys.argv[0]).name, *sys.argv[1:]]
    return shlex.join(word.replace(secret, "...") if secret else word for word in words)


def overridden(plan: Plan, flags: Overrides) -> Plan:
    """The plan with the flags laid over it. Raises `InputError` for an arm the plan does not have, and for flags that
    do not go together."""
    corpus = _with(plan.corpus, path=flags.corpus, slice=flags.slice)
    if flags.corpus is not None and flags.slice is None:
        corpus = replace(corpus, slice=None)  # a slice belongs to the corpus it was cut from
    models = tuple(_with(model, base_url=flags.base_url, scenario=flags.scenario) for model in plan.model)
    load = _with(plan.load, workers=flags.workers, fleet=flags.fleet, duration_s=flags.duration_s)
    if flags.concurrency or flags.rate:  # either takes the place of whichever loop the plan has
        load = replace(load, concurrency=flags.concurrency or None, rate=flags.rate or None, replay=False)
    if flags.one_pass:
        load = replace(load, cycle=False)
    repeated: Plan = _with(plan, repetitions=flags.repetitions)
    changed = replace(
        repeated,
        corpus=corpus,
        questions=_with(plan.questions, path=flags.questions, limit=flags.limit, categories=flags.categories or None),
        model=models,
        load=load,
        budget=_with(plan.budget, money=flags.budget),
        objectives=tuple({one.name: one for one in (*plan.objectives, *flags.objectives)}.values()),
        arms=_chosen(plan, flags.arm),
    )
    if wrong := mistake(changed):
        raise InputError(wrong[1], remedy=wrong[2])
    return changed


def _with(value: Any, **changes: object) -> Any:
    """The value with those fields replaced that were given."""
    given = {name: change for name, change in changes.items() if change is not None}
    make: Callable[..., Any] = replace
    return make(value, **given) if given else value


def of_kind(arms: Iterable[Arm], name: str) -> list[Arm]:
    """The arms of a full name (`rag-bm25-k5`) or of a kind (`rag`)."""
    return [arm for arm in arms if arm.name == name or arm.name.startswith(f"{name}-")]


def _chosen(plan: Plan, names: tuple[str, ...]) -> tuple[Arm, ...]:
    """The named arms, in the plan's order."""
    if not names:
        return plan.arms
    for name in names:
        if not of_kind(plan.arms, name):
            have = ", ".join(arm.name for arm in plan.arms)
            raise InputError(f"unknown arm {name!r}", remedy=f"the plan has: {have}")
    wanted = {arm.name for name in names for arm in of_kind(plan.arms, name)}
    return tuple(arm for arm in plan.arms if arm.name in wanted)
