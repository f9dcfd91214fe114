"""`loadrig plan PLAN`: what a run would do; nothing is written, and nothing sent unless it is told to calibrate."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from loadrig.execution.estimate import ASSUMED, Estimate
from loadrig.execution.prepare import Prepared, calibrate, prepare
from loadrig.execution.targets import reach
from loadrig.words.settings import Plan
from loadrig.words.trial import Stage

TYPICAL_S = 5  # of a trial: stated beside what is reckoned from it


def show(plan: Plan, console: Console, *, count: bool = False) -> None:
    """Prints trials by stage and arm, the estimate of tokens and money, and the warnings.

    `count` lets the endpoints count a prompt of each kind of arm; the indexes are built for it.
    """
    prepared = asyncio.run(_counted(plan)) if count else prepare(plan, build=False)
    counts = Counter((trial.stage, trial.arm, trial.phase) for trial in prepared.trials)
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
    seconds = sum(TYPICAL_S * count / _level(prepared.stages, stage) for (stage, _, _), count in counts.items())
    console.print(f"time: about {seconds / 60:.0f} minutes if a trial takes {TYPICAL_S} s", highlight=False)
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


def _level(stages: Sequence[Stage], name: str) -> int:
    return next(stage.concurrency for stage in stages if stage.name == name)
