"""What speaks for and against each architecture in a situation: a sentence each, with its numbers. Pure.

Rights stand first where they decide: a corpus that callers may see only parts of is no matter of size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from loadrig.advice.situation import FAR, Situation
from loadrig.context import STUFF_CEILING_TOKENS, WHOLE_FIRST_TOKENS

Speaks = Literal["for", "against"]
SOME = 0.1  # of the questions: a kind worth a way of its own


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence, and which way it speaks."""

    speaks: Speaks
    said: str


def full_context(s: Situation) -> Iterator[Reason]:
    """The whole corpus in every prompt, cached."""
    if not s.uniform:
        yield Reason("against", f"rights: {_rights(s)}; what stands in a prompt can come up in any answer")
    yield _size(s)
    if s.small:
        yield Reason(
            "for", f"under {WHOLE_FIRST_TOKENS:,} tokens the whole is tried first: nothing to build or to tune"
        )
    if s.fits:
        yield _stability(s)
        yield from _volume(s)
    if s.kinds.whole:
        yield Reason("for", f"{s.kinds.whole} of {s.kinds.n} questions ask for the whole set or what is absent from it")
    if s.fits and not s.below_ceiling:
        yield Reason(
            "against", f"over {STUFF_CEILING_TOKENS:,} tokens a detail is missed silently: probe by depth first"
        )


def rag(s: Situation) -> Iterator[Reason]:
    """The best k passages, one pass."""
    if not s.uniform:
        yield Reason("for", "rights: what a caller may not see is left out before ranking")
    if not s.fits:
        yield Reason("for", f"any size: {s.tokens:,} tokens do not fit the {s.budget:,} that a prompt may take")
    if s.kinds.lookup:
        yield Reason("for", f"{s.kinds.lookup} of {s.kinds.n} questions are lookups, answered from one passage")
    if s.fits:
        yield from _premium(s)
    if s.uniform and s.small and s.stable:
        yield Reason("against", "an index, passages and a k to tune and watch, for a corpus that fits and caches")
    if s.kinds.whole:
        yield Reason("against", f"{s.kinds.whole} of {s.kinds.n} questions ask what no k passages can show")
    if s.kinds.multi_hop:
        yield Reason("against", f"{s.kinds.multi_hop} of {s.kinds.n} questions take several steps: weak in one pass")


def agentic(s: Situation) -> Iterator[Reason]:
    """Tools the model calls until it knows."""
    if not s.uniform:
        yield Reason("for", "rights: each tool shows a caller only what he may see")
    if s.tokens > FAR * s.window:
        yield Reason(
            "for", f"{s.tokens:,} tokens are {s.tokens / s.window:,.0f} windows: a fixed k sees little of them"
        )
    if s.kinds.multi_hop:
        yield Reason("for", f"{s.kinds.multi_hop} of {s.kinds.n} questions take several steps, each found by the last")
    if s.kinds.lookup:
        yield Reason(
            "against", f"{s.kinds.lookup} of {s.kinds.n} questions are lookups: several calls for a one-hop answer"
        )
    if s.interactive:
        yield Reason("against", "somebody waits: its turns come one after another, and their number is not known")
    if not s.kinds.multi_hop and not s.kinds.whole:
        yield Reason("against", "no question is known to take more than one step")
    if s.uniform and s.fits:
        yield Reason("against", "the corpus fits one prompt: searching it turn by turn finds no more than reading it")


def decompose(s: Situation) -> Iterator[Reason]:
    """The question in parts, each looked for, all answered at once."""
    k = s.kinds
    if k.share(k.multi_hop) >= SOME:
        yield Reason(
            "for", f"{k.multi_hop} of {k.n} questions take several steps: split, each is one pass, two turns in all"
        )
    else:
        yield Reason("against", f"{k.multi_hop} of {k.n} questions take several steps: too few for a turn more in each")
    if s.uniform and s.fits and s.stable and s.pays:
        yield Reason("against", "the whole corpus stands in the prompt: nothing has to be looked for")


def cached_core(s: Situation) -> Iterator[Reason]:
    """A part that is always there, cached, and retrieval for the rest."""
    if s.uniform and s.fits:
        yield Reason("against", "the whole corpus fits: a core leaves out what could stand there")
    elif s.uniform:
        yield Reason("for", "if some documents bear on most questions (a glossary, a catalogue) they can be cached")
    else:
        yield Reason("against", f"rights: {_rights(s)}; a core shared by all may hold only what all may see")


def summaries(s: Situation) -> Iterator[Reason]:
    """Summaries of summaries, made once, answered from."""
    if s.fits:
        yield Reason("against", "the whole corpus fits: summaries leave out what could stand there")
    elif s.kinds.whole:
        yield Reason("for", f"{s.kinds.whole} of {s.kinds.n} questions want a view of a set that does not fit")
    else:
        yield Reason("against", "no question wants a view of the whole set")
    if not s.fits and not s.uniform:
        yield Reason("against", "rights: a tree of its own for each set of labels, each paid for")


def route(s: Situation) -> Iterator[Reason]:
    """Each question to the way that suits its kind."""
    k = s.kinds
    if s.uniform and s.fits and s.stable and s.pays:
        yield Reason("against", "one way answers every kind here: a router is one more thing to be wrong")
    elif mixed(s):
        yield Reason("for", f"kinds differ ({k}): lookups in one pass, the rest by another way")
    else:
        yield Reason("against", f"one kind prevails ({k}): nothing to tell apart")


def control(s: Situation) -> Iterator[Reason]:  # noqa: ARG001 - no situation changes it
    """No documents."""
    yield Reason("against", "always ground: no choice below matters as much; run it as the yardstick")


def mixed(s: Situation) -> bool:
    """Whether lookups and other questions are each more than a few."""
    k = s.kinds
    return min(k.share(k.lookup), k.share(k.multi_hop + k.whole)) >= SOME


def _premium(s: Situation) -> Iterator[Reason]:
    """What full context takes beside it: more tokens, and more money unless a cache bears them."""
    if s.premium is None or s.premium <= 1:
        return
    tokens = f"{s.premium:.1f} times its prompt tokens"
    if s.dearer is None:
        yield Reason("for", f"full context takes {tokens}")
    elif s.dearer > 1:
        yield Reason("for", f"full context costs {s.dearer:.1f} times as much a question, for {tokens}")
    else:
        yield Reason("against", f"cached, full context costs {s.dearer:.2f} of it a question, for {tokens}")


def _rights(s: Situation) -> str:
    if s.restricted:
        return f"{s.restricted:,} of {s.documents:,} documents are not for everyone"
    return "callers may see different parts"


def _stability(s: Situation) -> Reason:
    if s.stable:
        return Reason("for", f"it changes {s.changes}: the cache outlives the questions")
    return Reason("against", "it changes daily: each change spoils the cached prefix")


def _size(s: Situation) -> Reason:
    share = 100 * s.tokens / s.window
    if s.fits:
        return Reason(
            "for", f"{s.tokens:,} tokens fit the {s.budget:,} a prompt may take ({share:.1f} % of the window)"
        )
    if s.tokens <= s.window:
        return Reason("against", f"size: {s.tokens:,} tokens leave a window of {s.window:,} no room to spare")
    return Reason("against", f"size: {s.tokens:,} tokens do not fit a window of {s.window:,}")


def _volume(s: Situation) -> Iterator[Reason]:
    if s.affordable is False:
        yield Reason("against", "it passes the money that was said")
    if s.per_day is None or s.crossover_per_day is None:
        if not s.small:
            yield Reason("against", "volume was not told, or its price is unknown: above that size a cache must pay")
        return
    asked, least = f"{s.per_day:,.0f} questions a day", f"{math.ceil(s.crossover_per_day):,}"
    if s.busy:
        yield Reason("for", f"{asked}: from {least} on a cache is cheaper than none")
    elif s.small:
        yield Reason("for", f"{asked}: too few for a cache ({least} would do), so few that the premium is little money")
    else:
        yield Reason("against", f"{asked}: a cache pays from {least} on")
