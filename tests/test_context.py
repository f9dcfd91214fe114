"""What decides how much goes before a model: the defaults as published, and the rules at their edges."""

from __future__ import annotations

from itertools import product

import pytest

from loadrig import context
from loadrig.context import (
    budget_of,
    corpus_strategy,
    decision_path,
    may_be_stuffed,
    needs_escalation,
    whole_first,
    window_of,
)


def test_the_defaults_are_those_of_the_articles() -> None:
    """B-01, C-02, C-03: eight figures, as published."""
    assert (context.RAG_TOP_K, context.RAG_CONFIDENCE_FLOOR, context.STUFF_CEILING_TOKENS) == (8, 0.8, 64_000)
    assert (context.FAITHFULNESS_FLOOR, context.COST_RATIO_ALERT) == (0.9, 20.0)
    assert context.EVAL_BANDS == ((0.0, 0.1), (0.4, 0.6), (0.9, 1.0))
    assert (context.CONTEXT_BUDGET, context.WHOLE_FIRST_TOKENS) == (400_000, 200_000)


@pytest.mark.parametrize(("tokens", "may"), [(0, True), (64_000, True), (64_001, False)])
def test_what_is_over_the_ceiling_is_not_stuffed(tokens: int, may: bool) -> None:
    """B-03: 64,000 tokens may go into a prompt whole, one more may not."""
    assert may_be_stuffed(tokens) is may


@pytest.mark.parametrize(
    ("answerable", "confidence", "needed"),
    [
        (True, 0.8, False), (True, 0.79999, True), (True, 1.0, False), (False, 0.99, True), (True, None, True),
        (None, 0.9, True), (None, None, True), (True, float("nan"), True),
    ],
)  # fmt: skip
def test_an_answer_is_escalated_below_the_floor_only(
    answerable: bool | None, confidence: float | None, needed: bool
) -> None:
    """B-02: exactly 0.8 is enough; what cannot be answered, or does not say how sure it is, is not."""
    assert needs_escalation(confidence, answerable=answerable) is needed


def test_the_strategy_of_a_corpus_is_a_table_of_eight() -> None:
    """C-03: cached long context for the one case in which all may see it, it fits and it is stable."""
    found = {
        case: corpus_strategy(400_000 if case[1] else 400_001, uniform_access=case[0], stable=case[2])
        for case in product((True, False), repeat=3)
    }
    assert [case for case, strategy in found.items() if strategy == "long_context_cached"] == [(True, True, True)]
    assert list(found.values()).count("rag") == 7


def test_the_path_asks_four_questions_in_their_order() -> None:
    """C-05: of 32 cases two are cached, whatever the questions; of the other 30 half are lookups."""
    found = {
        case: decision_path(
            400_000 if case[1] else 400_001, uniform_access=case[0], stable=case[2], volume=case[3], single_hop=case[4]
        )
        for case in product((True, False), repeat=5)
    }
    cached = [case for case, strategy in found.items() if strategy == "long_context_cached"]
    assert cached == [(True, True, True, True, True), (True, True, True, True, False)]
    others = {case: strategy for case, strategy in found.items() if case not in cached}
    assert all(strategy == ("rag" if case[4] else "agentic") for case, strategy in others.items())
    assert len(others) == 30


@pytest.mark.parametrize(("tokens", "first"), [(199_999, True), (200_000, False)])
def test_a_small_corpus_is_tried_whole_first(tokens: int, first: bool) -> None:
    """C-02: under 200,000 tokens."""
    assert whole_first(tokens) is first


@pytest.mark.parametrize(
    ("window", "budget"), [(1_000_000, 400_000), (200_000, 80_000), (2_000_000, 400_000), (None, 400_000)]
)
def test_the_budget_leaves_room_in_the_window(window: int | None, budget: int) -> None:
    """400,000 of a million, the same share of a smaller window, no more of a larger one."""
    assert budget_of(window) == budget


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("claude-haiku-4-5-20251001", 200_000), ("claude-haiku-5-5", 1_000_000), ("somebodys-model", None)],
)
def test_a_window_is_known_or_not(model: str, tokens: int | None) -> None:
    """By the beginning of the model's id; of a model that is not listed nothing is guessed."""
    assert window_of(model) == tokens
