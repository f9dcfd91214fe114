"""What one more passage costs in prompt tokens, and from how many on retrieval costs what full context costs.

    prompt tokens per question = start + each x k,   least squares over the arms that differ in k alone
    crossover                  = (full context's prompt tokens - start) / each

in the provider's own tokens of one model, mean over asked trials. `start` is what instructions and question take; with
caching off, prompt tokens are what is paid for, so the crossover is of cost too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loadrig.analysis.selection import asked, grouped
from loadrig.analysis.usage import token_means
from loadrig.log import RunFolder
from loadrig.statistics.line import line_through

FULL_CONTEXT = "loadrig.arms.full_context:FullContext"
_OWN = ("name", "k")


@dataclass(frozen=True, slots=True)
class Width:
    """The arms of one model that differ in k alone. `points`: mean prompt tokens by k; `full`: those of full context;
    `crossover`: the k at which the line reaches them; both None without such an arm. `passages`: of the corpus, to be
    held against the crossover; None where whole documents are retrieved."""

    model: str
    arms: tuple[str, ...]
    points: dict[int, float]
    start: float
    each: float
    full: float | None
    crossover: float | None
    passages: int | None


def widths(run: RunFolder) -> tuple[Width, ...]:
    """One for every family of two or more arms and every model."""
    plan = run.manifest.get("plan") or {}
    described = [arm for arm in plan.get("arms") or () if isinstance(arm, dict) and "name" in arm]
    prompts = _prompts(run)
    models = sorted({model for model, _ in prompts})
    chunks = (run.manifest.get("corpus") or {}).get("chunks")
    return tuple(width for model in models for width in _of_model(model, described, prompts, chunks))


def _of_model(
    model: str, described: Iterable[Mapping[str, Any]], prompts: Mapping[tuple[str, str], float], chunks: int | None
) -> Iterator[Width]:
    described = list(described)
    whole = [arm["name"] for arm in described if arm.get("kind") == FULL_CONTEXT and (model, arm["name"]) in prompts]
    full = prompts[model, whole[0]] if whole else None
    wide = [arm for arm in described if isinstance(arm.get("k"), int) and (model, arm["name"]) in prompts]
    families = grouped((tuple(sorted((n, str(v)) for n, v in arm.items() if n not in _OWN)), arm) for arm in wide)
    for family in families.values():
        points = {arm["k"]: prompts[model, arm["name"]] for arm in sorted(family, key=lambda arm: int(arm["k"]))}
        if len(points) < 2:
            continue
        line = line_through({float(k): tokens for k, tokens in points.items()})
        yield Width(
            model=model,
            arms=tuple(arm["name"] for arm in family),
            points=points,
            start=line.start,
            each=line.each,
            full=full,
            crossover=line.reaches(full) if full is not None and line.each > 0 else None,
            passages=chunks if family[0].get("unit") != "document" else None,
        )


def _prompts(run: RunFolder) -> dict[tuple[str, str], float]:
    """Mean prompt tokens a question by model and arm, of those that reported any."""
    groups = grouped(((record.model, record.arm), record.usage) for record in asked(run))
    means = {key: token_means(usages).prompt for key, usages in groups.items()}
    return {key: mean for key, mean in means.items() if mean is not None}
