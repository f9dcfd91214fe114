"""The decision record: one architecture recommended, the others worth a trial or rejected, each with its reasons. Pure.

Rules, the first that holds:

1. a corpus below the ceiling on stuffing that everyone may see, most of whose questions ask for the whole set or for
   what is absent from it: the whole of it in the prompt, stable or not, for no passages can answer those;
2. the path of four questions (`loadrig.context.decision_path`): same access? fits with room? stable, and does volume
   pay? where not, mostly lookups?

An alternative is worth a trial where something speaks for it that a small run can settle, and nothing that no run can
change (rights, size) speaks against it. Accuracy is not among the reasons: nobody knows it before a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from loadrig import context
from loadrig.advice import reasons
from loadrig.advice.reasons import Reason
from loadrig.advice.situation import Situation

Verdict = Literal["recommended", "worth a trial", "rejected"]
KINDS: dict[str, Callable[[Situation], Iterator[Reason]]] = {
    "full_context": reasons.full_context,
    "rag": reasons.rag,
    "agentic": reasons.agentic,
    "route": reasons.route,
    "decompose": reasons.decompose,
    "cached_core": reasons.cached_core,
    "summaries": reasons.summaries,
    "control": reasons.control,
}


@dataclass(frozen=True, slots=True)
class Decision:
    """An architecture, its verdict and reasons; `conditions`: what must be there if it is built."""

    architecture: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    conditions: tuple[str, ...] = ()


def decided(s: Situation) -> tuple[Decision, ...]:
    """The record, the recommended one first."""
    best = chosen(s)
    record = []
    for name, why in KINDS.items():
        verdict = _verdict(name, s, best)
        conditions = () if verdict == "rejected" else _conditions(name, s)
        record.append(Decision(name, verdict, tuple(why(s)), conditions))
    order: tuple[Verdict, ...] = ("recommended", "worth a trial", "rejected")
    return tuple(sorted(record, key=lambda one: order.index(one.verdict)))


def chosen(s: Situation) -> str:
    """The architecture that the rules above name."""
    if s.uniform and s.below_ceiling and s.affordable is not False and 2 * s.kinds.whole > s.kinds.n:
        return "full_context"
    way = context.decision_path(
        s.tokens,
        uniform_access=s.uniform,
        stable=s.stable,
        volume=s.pays,
        single_hop=s.kinds.single_hop,
        budget=s.budget,
    )
    return "full_context" if way == "long_context_cached" else way


def _verdict(name: str, s: Situation, best: str) -> Verdict:
    if name == best:
        return "recommended"
    return "worth a trial" if _open(name, s, best) else "rejected"


def _open(name: str, s: Situation, best: str) -> bool:
    """Whether a small run could speak for it."""
    k = s.kinds
    return {
        "full_context": s.uniform and s.fits and s.affordable is not False and (s.small or bool(k.whole)),
        "rag": best == "agentic" or (not s.below_ceiling and k.single_hop),
        "agentic": best == "rag" and k.share(k.multi_hop + k.whole) >= reasons.SOME and not s.interactive,
        "route": best != "full_context" and reasons.mixed(s),
        "decompose": best != "full_context" and k.share(k.multi_hop) >= reasons.SOME,
        "cached_core": s.uniform and not s.fits,
        "summaries": not s.fits and bool(k.whole),
    }.get(name, False)


def _conditions(name: str, s: Situation) -> tuple[str, ...]:
    rights = ("a mandatory filter by the caller's labels, before ranking",) if not s.uniform else ()
    match name:
        case "full_context":
            probe = () if s.below_ceiling else ("a probe by depth at this length before anybody relies on it",)
            return ("documents first, breakpoint behind them, the question last", "one priming call first", *probe)
        case "rag":
            return (
                *rights,
                "k from recall by category, never from its mean",
                "citations, each checked in what was sent",
            )
        case "agentic":
            tools = ("every tool keeps the caller's rights itself",) if not s.uniform else ()
            return (*tools, "a cap on turns and on tokens", "every tool call logged", "a person reviews its findings")
    return ()
