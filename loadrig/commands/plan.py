"""`loadrig plan PLAN`: what a run would do; nothing is sent and nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from loadrig.execution.prepare import prepare
from loadrig.words.settings import Plan
from loadrig.words.trial import Stage

TYPICAL_S = 5  # of a trial: stated beside what is reckoned from it


def show(plan: Plan, console: Console) -> None:
    """Prints trials by stage and arm, the estimate of tokens and money, and the warnings."""
    prepared = prepare(plan, build=False)
    counts = Counter((trial.stage, trial.arm, trial.phase) for trial in prepared.trials)
    table = Table("stage", "arm", "measured", "warm-up", title=f"{plan.name}: {len(prepared.trials)} trials")
    for stage in prepared.stages:
        for arm in plan.arms:
            measured, warm = (counts[stage.name, arm.name, phase] for phase in ("measured", "warmup"))
            table.add_row(stage.name, arm.name, str(measured), str(warm))
    console.print(table)
    estimate, currency = prepared.estimate, prepared.prices.currency
    cost = "unknown: a model has no price" if estimate.cost is None else f"about {estimate.cost:.4f} {currency}"
    corpus = prepared.corpus
    console.print(
        f"corpus {corpus.name}: {len(corpus.documents)} documents, {len(corpus.chunks)} chunks, "
        f"{corpus.tokens:,} tokens ({corpus.estimator})\n"
        f"estimate: {estimate.prompt_tokens:,} prompt tokens, {estimate.output_tokens:,} output tokens, cost {cost}",
        markup=False,
        highlight=False,
    )
    seconds = sum(TYPICAL_S * count / _level(prepared.stages, stage) for (stage, _, _), count in counts.items())
    console.print(f"time: about {seconds / 60:.0f} minutes if a trial takes {TYPICAL_S} s", highlight=False)
    for warning in prepared.warnings:
        console.print(f"warning: {warning}", markup=False, highlight=False)


def _level(stages: Sequence[Stage], name: str) -> int:
    return next(stage.concurrency for stage in stages if stage.name == name)
