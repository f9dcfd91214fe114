"""Nine factors, each for the three architectures: with this corpus' numbers where there are any. Pure.

What stands without a number is a property of the architecture, not a measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadrig.advice.costing import ArmCost
from loadrig.advice.situation import Situation

UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor and what it is in each of the three."""

    name: str
    full_context: str
    rag: str
    agentic: str


@dataclass(frozen=True, slots=True)
class Index:
    """What retrieval takes to build: passages, and seconds on this machine."""

    chunks: int
    seconds: float


def factors(s: Situation, costs: Mapping[str, ArmCost], index: Index) -> tuple[Factor, ...]:
    """The nine; `costs` by kind of arm: FullContext, Rag, Agentic."""
    full, narrow, agent = (costs.get(kind) for kind in ("FullContext", "Rag", "Agentic"))
    k = s.kinds
    fits = f"{s.tokens:,} of {s.budget:,}: " + ("fits" if s.fits else "does not fit")
    cached = f", {full.static_tokens:,} of them kept" if full is not None and full.static_tokens else ""
    hops = f" ({k.multi_hop} of {k.n} here)"
    rights = f"hard{'' if s.uniform else ', and needed here'}: all in the prompt is visible"
    return (
        Factor("corpus size", fits, "any", "any"),
        Factor(
            "build effort",
            "lowest: none",
            f"medium to high: {index.chunks:,} passages, indexed in {index.seconds:.1f} s here, and a k",
            "medium: tools and a loop, and an index to search",
        ),
        Factor("tokens a request", _tokens(full) + cached, _tokens(narrow), f"{_tokens(agent)}, varies, a guess"),
        Factor("latency", "medium, rises with size", "low", "highest, varies"),
        Factor("multi-hop questions", f"good{hops}", f"weak in one pass{hops}", f"strong{hops}"),
        Factor("access per caller", rights, "strong: filtered before ranking", "strong if every tool keeps it"),
        Factor("freshness", _rebuilt(s, full), "the index takes up what changed", "tools ask what is there now"),
        Factor("auditability", 'the whole corpus was "shown"', "passages sent are on record", "every call on record"),
        Factor(
            "typical failure",
            "a detail missed in a huge prompt; cost of cache misses",
            "the passage that matters is not retrieved",
            "loops, searching too much, drift",
        ),
    )  # fmt: skip


def _tokens(cost: ArmCost | None) -> str:
    return UNKNOWN if cost is None else f"{cost.prompt_tokens:,}"


def _rebuilt(s: Situation, full: ArmCost | None) -> str:
    """What a change costs: the prefix is written anew."""
    tokens = (
        f", {full.static_tokens:,} tokens" if full is not None and full.static_tokens and s.changes != "never" else ""
    )
    return f"the cached prefix is written anew ({s.changes}{tokens})"
