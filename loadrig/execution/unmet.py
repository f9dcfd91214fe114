"""What a plan's arms wish of an endpoint that its dialect has no words for: said before a run, as nothing will fail."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.providers import load
from loadrig.words.errors import InputError
from loadrig.words.settings import Plan


def unmet(plan: Plan) -> tuple[str, ...]:
    """One sentence for each wish and model. Raises `InputError` for an unknown provider, and for a setting that says
    nothing to the model's."""
    return tuple(_unmet(plan))


def caching(plan: Plan) -> frozenset[tuple[str, str]]:
    """Arms that ask for a cache, each with every model that can be asked for one."""
    able = [model.id for model in plan.model if load(model.provider).endpoint.keeps_on_request]
    return frozenset((arm, model) for arm in _keeping(plan) for model in able)


def _keeping(plan: Plan) -> list[str]:
    return [arm.name for arm in plan.arms if getattr(arm, "cache", "off") != "off"]


def _unmet(plan: Plan) -> Iterator[str]:
    keeping = _keeping(plan)
    citing = [arm.name for arm in plan.arms if "blocks" in (getattr(arm, "citations", ""), getattr(arm, "results", ""))]
    for model in plan.model:
        endpoint = load(model.provider).endpoint
        if model.token_limit is not None and model.token_limit not in endpoint.limits:
            remedy = "leave it out: the limit has one name there"
            raise InputError(f"token_limit of {model.id} says nothing to provider {model.provider!r}", remedy=remedy)
        if keeping and not endpoint.keeps_on_request:
            yield (
                f"{', '.join(keeping)}: no request to {model.id} can say what is to be cached (provider "
                f"{model.provider}); what its endpoint caches by itself is counted as read"
            )
        if citing and not endpoint.cites:
            yield (
                f"{', '.join(citing)}: {model.id} is shown found texts as plain documents, for there are no blocks to "
                f"cite (provider {model.provider}): its endpoint names no citations"
            )
