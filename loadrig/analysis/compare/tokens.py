"""Prompt tokens of the same requests in two runs: what a provider reports for the same bytes is a fact about them.

A tokenizer's ratio to a local estimate is a model's own (1.13 and 1.54 times were seen), so a count that is wrong by
the same factor everywhere looks, in one run, like another tokenizer. In two runs it does not: a request of the same
bytes to the same model has the same number of tokens, exactly. One that has not was counted wrong in one of the runs,
or the model has another tokenizer now; neither run can say which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadrig.analysis.compare.sides import Side
from loadrig.cost import prompt_tokens

NAME = "the same requests, other prompt tokens"


@dataclass(frozen=True, slots=True)
class Recounted:
    """Requests that both sides sent in the same bytes, of which `other` have other prompt tokens. `factor`: b's tokens
    of all of them over a's; `least` and `most`: of a single one."""

    requests: int
    other: int
    factor: float
    least: float
    most: float


def recounted(a: Side, b: Side) -> Recounted | None:
    """None for two models, and where no request of the same bytes was told its tokens on both sides."""
    if a.model != b.model:
        return None
    first, second = _told(a), _told(b)
    common = [prompt for prompt in first if prompt in second]
    if not common:
        return None
    factors = [max(second[prompt]) / max(first[prompt]) for prompt in common]
    return Recounted(
        requests=len(common),
        other=sum(first[prompt] != second[prompt] for prompt in common),
        factor=sum(max(second[prompt]) for prompt in common) / sum(max(first[prompt]) for prompt in common),
        least=min(factors),
        most=max(factors),
    )


def told(found: Recounted) -> str:
    """What to say when some have other tokens."""
    spread = "" if round(found.most - found.least, 3) == 0 else f" ({found.least:.3f} to {found.most:.3f} each)"
    return (
        f"{NAME}: {found.other} of {found.requests} requests of the same bytes; b reports {found.factor:.3f} times "
        f"what a does{spread}. One run counts wrong, or the model counts otherwise now: tokens and cost do not compare"
    )


def _told(side: Side) -> Mapping[tuple[str, ...], set[int]]:
    """The prompt tokens that were reported for each request, by the hashes of its fragments."""
    found: dict[tuple[str, ...], set[int]] = {}
    for record in side.asked:
        for turn in record.turns:
            size = 0 if turn.usage is None else prompt_tokens(turn.usage)
            if turn.prompt and size > 0:  # else none were told
                found.setdefault(turn.prompt, set()).add(size)
    return found
