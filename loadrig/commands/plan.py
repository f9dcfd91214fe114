"""`loadrig plan PLAN`: what a run would do; nothing is written, and nothing sent unless it is told to calibrate."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from loadrig.execution.building import foreseen
from loadrig.execution.changing import described
from loadrig.execution.estimate import ASSUMED, Estimate, seconds
from loadrig.execution.prepare import Prepared, calibrate, prepare
from loadrig.execution.targets import reach
from loadrig.plan import TYPICAL_S
from loadrig.words.record import Phase
from loadrig.words.settings import Plan
from loadrig.words.trial import OpenLoop, Stage

Counts = Counter[tuple[str, str, Phase]]  # trials by stage, arm and phase


def show(plan: Plan, console: Console, *, count: bool = False) -> None:
    """Prints trials by stage and arm, the estimate of tokens and money, and the warnings.

    `count` lets the endpoints count a prompt of each kind of arm; the indexes are built for it.
    """
    prepared = asyncio.run(_counted(plan)) if count else prepare(plan, build=False)
    counts: Counts = Counter((trial.stage, trial.arm, trial.phase) for trial in prepared.trials)
    table = Table("stage", "arm", "measured", "warm-up", title=f"{plan.name}: {len(prepared.trials)} trials")
    for stage in prepared.stages:
        for arm in plan.arms:
            measured, warm = (counts[stage.name, arm.name, phase] for phase in ("measured", "warmup"))
            table.add_row(stage.name, arm.name, str(measured), str(warm))
    console.print(table)
    console.print(_by_arm(prepared.estimate))
    estimate, currency = prepared.estimate, prepared.prices.currency
    cost = "unknown: a model has no price" if estimate.cost is None else f"about {estimate.cost:.4f} {currency}"
    corpus = prepared.corpus
    console.print(
        f"corpus {corpus.name}: {len(corpus.documents)} documents, {len(corpus.chunks)} chunks, "
        f"{corpus.tokens:,} tokens ({corpus.estimator})\n"
        f"estimate: {estimate.prompt_tokens:,} prompt tokens, {estimate.output_tokens:,} output tokens, cost {cost}\n"
        f"assumed: {'; '.join(ASSUMED)}",
        markup=False,
        highlight=False,
    )
    if (built := foreseen(prepared)) is not None:
        money = "unknown" if built.cost is None else f"about {built.cost:.4f} {currency}"
        console.print(
            f"built beforehand, unless it is kept: up to {built.prompt_tokens:,} prompt tokens, cost {money}",
            markup=False,
            highlight=False,
        )
    for stage in prepared.stages:
        if stage.open_loop is not None:
            console.print(_arrivals(stage, stage.open_loop, counts), markup=False, highlight=False)
    if prepared.change is not None and plan.update is not None:
        kinds = described(prepared.change, plan, corpus)
        told = ", ".join(f"{len(kinds[kind])} {kind}" for kind in ("replaced", "added", "removed"))
        console.print(f"documents change after {plan.update.after_s:g} s: {told}", markup=False, highlight=False)
    lasts_s = seconds(prepared.stages, prepared.trials)
    console.print(f"time: about {lasts_s / 60:.0f} minutes if a trial takes {TYPICAL_S} s", highlight=False)
    for warning in (*prepared.warnings, *estimate.notes):
        console.print(f"warning: {warning}", markup=False, highlight=False)


async def _counted(plan: Plan) -> Prepared:
    prepared = await asyncio.to_thread(prepare, plan)
    with tempfile.TemporaryDirectory(prefix="loadrig-") as folder:
        async with reach(plan, Path(folder)) as reached:
            return await asyncio.to_thread(calibrate, prepared, reached.targets)


def _by_arm(estimate: Estimate) -> Table:
    table = Table("arm", "model", "prompt tokens a trial", "their count / ours", "known by")
    for one in estimate.arms:
        known_by = "the arm's guess" if one.guessed else "trying it out"
        ratio = f"{one.ratio} {'counted' if one.calibrated else 'assumed'}"
        table.add_row(one.arm, one.model, f"{one.prompt_tokens:,}", ratio, known_by)
    return table


def _arrivals(stage: Stage, loop: OpenLoop, counts: Counts) -> str:
    """`stage r2: 240 poisson arrivals in 120.0 s, 2 a second; 8 of them warm-up, in the first 4.0 s; ...`."""
    due = sum(count for (name, _, _), count in counts.items() if name == stage.name)
    warm = sum(count for (name, _, phase), count in counts.items() if name == stage.name and phase == "warmup")
    rise = f", rising over {loop.ramp_s:g} s" if loop.ramp_s else ""
    told = f"; {warm} of them warm-up, in the first {loop.measured_from_ns / 1e9:.1f} s" if warm else ""
    return (
        f"stage {stage.name}: {due} {loop.arrivals} arrivals in {loop.length_ns / 1e9:.1f} s, "
        f"{loop.rate_per_s:g} a second{rise}{told}; at most {loop.max_in_flight} in flight"
    )
