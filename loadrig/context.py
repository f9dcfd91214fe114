"""How much to put before a model: every default that decides it, here alone, and the rules that follow from them. Pure.

The defaults are those of the two articles that the grounding systems were built after; docs/routing.md names them. They
are where to begin: what holds for a model and a corpus is what a run over them shows. Tokens are of the documents alone
and by the local estimator, unless whoever calls has a model's own count.
"""

from __future__ import annotations

from typing import Literal

RAG_TOP_K = 8
RAG_CONFIDENCE_FLOOR = 0.8
STUFF_CEILING_TOKENS = 64_000
FAITHFULNESS_FLOOR = 0.9
EVAL_BANDS = ((0.0, 0.1), (0.4, 0.6), (0.9, 1.0))
"""Where in a prompt what is sought is put: early, in the middle, late; shares of its length."""
COST_RATIO_ALERT = 20.0
CONTEXT_BUDGET = 400_000
"""Of a window of a million: the rest is room for instructions, tools and the answer."""
WHOLE_FIRST_TOKENS = 200_000
"""Of a corpus smaller than this the whole is tried first."""

_BUDGET_OF = 1_000_000
_WINDOWS = (  # input tokens by the beginning of a model's id, as its provider publishes them; seen 2026-11-12
    ("claude-haiku-4-5", 200_000),
    ("claude-opus-4-5", 200_000),
    ("claude-fable-5", 1_000_000),
    ("claude-mythos-5", 1_000_000),
    ("claude-opus-5", 1_000_000),
    ("claude-sonnet-5", 1_000_000),
    ("claude-haiku-5", 1_000_000),
    ("claude-opus-4-6", 1_000_000),
    ("claude-opus-4-7", 1_000_000),
    ("claude-opus-4-8", 1_000_000),
    ("claude-sonnet-4-6", 1_000_000),
)

Strategy = Literal["long_context_cached", "rag", "agentic"]


def may_be_stuffed(tokens: int, ceiling: int = STUFF_CEILING_TOKENS) -> bool:
    """Whether so many tokens of documents may go into a prompt whole; above the ceiling they are retrieved, whatever
    a router says."""
    return tokens <= ceiling


def needs_escalation(confidence: float | None, *, answerable: bool | None, floor: float = RAG_CONFIDENCE_FLOOR) -> bool:
    """Whether an answer is to be tried again with more before the model: it says that it cannot be given, its
    confidence is below the floor, or either is not known. Exactly the floor is enough."""
    return answerable is not True or confidence is None or not confidence >= floor


def whole_first(tokens: int) -> bool:
    """Whether a corpus is so small that the whole of it is tried before anything is built."""
    return tokens < WHOLE_FIRST_TOKENS


def window_of(model: str) -> int | None:
    """Tokens that a model takes; None when that is not known."""
    return next((tokens for prefix, tokens in _WINDOWS if model.startswith(prefix)), None)


def budget_of(window: int | None) -> int:
    """Tokens of documents that fit a window with room to spare: `CONTEXT_BUDGET` of a million, as large a share of a
    smaller one, and no more of a larger one or one that is not known."""
    return CONTEXT_BUDGET if window is None else min(CONTEXT_BUDGET, CONTEXT_BUDGET * window // _BUDGET_OF)


def corpus_strategy(
    tokens: int, *, uniform_access: bool, stable: bool, budget: int = CONTEXT_BUDGET
) -> Literal["long_context_cached", "rag"]:
    """How to ground a corpus, by three facts: whoever asks may see all of it, it fits the budget, and it changes too
    seldom to spoil a cache. One that is not so is retrieved from."""
    return "long_context_cached" if uniform_access and tokens <= budget and stable else "rag"


def decision_path(
    tokens: int, *, uniform_access: bool, stable: bool, volume: bool, single_hop: bool, budget: int = CONTEXT_BUDGET
) -> Strategy:
    """The same by four questions in their order: the same access for all? fits with room? stable, and asked often
    enough (`volume`) to pay for a cache? Where one is answered no, it is retrieved from: `single_hop` lookups in a
    single pass, anything else by an agent."""
    if volume and corpus_strategy(tokens, uniform_access=uniform_access, stable=stable, budget=budget) != "rag":
        return "long_context_cached"
    return "rag" if single_hop else "agentic"
