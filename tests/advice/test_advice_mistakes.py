"""Six mistakes, each made once and once not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loadrig.advice.kinds import Kinds
from loadrig.advice.mistakes import (
    INTUITION,
    LOOKUPS,
    MIXED,
    NO_LIMIT,
    RAG_SMALL,
    VOLATILE,
    Mistake,
    Planned,
    mistakes,
)
from loadrig.advice.situation import Situation
from loadrig.arms.agentic import Agentic
from loadrig.arms.cached_core import CachedCore
from loadrig.arms.control import Control
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.arms.route import Route
from loadrig.arms.summaries import Summaries
from loadrig.execution.kept import Kept
from loadrig.execution.sampling import Sample
from loadrig.words.arm import Arm

SMALL = Situation(tokens=15_000, window=1_000_000, uniform=True, changes="monthly", kinds=Kinds(lookup=9, multi_hop=1))
MIXED_RIGHTS = replace(SMALL, uniform=False)


def _found(s: Situation, name: str, *arms: Arm, samples: tuple[Sample, ...] = ()) -> Mistake:
    return next(one for one in mistakes(s, Planned(arms, samples)) if one.name == name)


@pytest.mark.parametrize(
    ("s", "arms", "verdict"),
    [
        (SMALL, (Control(), Rag()), "made"),
        (SMALL, (Control(), Rag(), FullContext()), "not made"),
        (SMALL, (Control(), Rag(), Summaries(), CachedCore()), "made"),
        (replace(SMALL, changes="daily"), (Control(), Rag()), "not made"),
        (replace(SMALL, tokens=200_000), (Control(), Rag()), "not made"),
        (MIXED_RIGHTS, (Control(), Rag()), "not made"),
    ],
)
def test_retrieval_for_a_small_stable_corpus(s: Situation, arms: tuple[Arm, ...], verdict: str) -> None:
    """Made when nothing in the plan has the corpus whole though it is small, stable and open to all."""
    assert _found(s, RAG_SMALL, *arms).verdict == verdict


@pytest.mark.parametrize(
    ("s", "arms", "verdict"),
    [
        (MIXED_RIGHTS, (Rag(), FullContext(mixed_rights=True)), "made"),
        (MIXED_RIGHTS, (Rag(), Route(full_context=FullContext(mixed_rights=True))), "made"),
        (MIXED_RIGHTS, (Rag(), Agentic()), "not made"),
        (SMALL, (Rag(), FullContext()), "not made"),
    ],
)
def test_mixed_rights_in_one_prompt(s: Situation, arms: tuple[Arm, ...], verdict: str) -> None:
    """Made by an arm that shows the whole of a corpus which not everyone may see."""
    assert _found(s, MIXED, *arms).verdict == verdict


def test_volatile_text_before_the_prefix() -> None:
    """Made where two questions part before the breakpoint, and where is said."""
    parted = Kept("5m", 9_000, 9_000, 2, "the instructions, from character 1 on: 'a' and 'b'")
    bad = Sample("dated", "Dated", 10, guessed=False, kept=parted)
    good = Sample("fine", "Fine", 10, guessed=False, kept=replace(parted, prefixes=1, parted=None))
    assert _found(SMALL, VOLATILE, samples=(good, bad)).verdict == "made"
    assert _found(SMALL, VOLATILE, samples=(good, bad)).said.startswith("dated: the instructions, from character 1")
    assert _found(SMALL, VOLATILE, samples=(good,)).verdict == "not made"
    assert _found(SMALL, VOLATILE).verdict == "not made"


@pytest.mark.parametrize(
    ("kinds", "arms", "verdict"),
    [
        (Kinds(lookup=9, multi_hop=1), (Control(), Agentic()), "made"),
        (Kinds(lookup=1, multi_hop=9), (Control(), Agentic()), "not made"),
        (Kinds(lookup=9, multi_hop=1), (Control(), Agentic(), Rag()), "not made"),
        (Kinds(lookup=9, multi_hop=1), (Control(),), "not made"),
    ],
)
def test_agents_for_lookups(kinds: Kinds, arms: tuple[Arm, ...], verdict: str) -> None:
    """Made when lookups prevail and nothing but agents answers them."""
    assert _found(replace(SMALL, kinds=kinds), LOOKUPS, *arms).verdict == verdict


def test_no_limit_on_an_agents_loop() -> None:
    """Loadrig's own agent always has one, and it is named."""
    found = _found(SMALL, NO_LIMIT, Agentic(turn_cap=7))
    assert found.verdict == "not made"
    assert "ends after 7 turns" in found.said
    assert _found(SMALL, NO_LIMIT, Route(agentic=Agentic(turn_cap=5))).said.endswith("h5-t5 ends after 5 turns")


@pytest.mark.parametrize(
    ("arms", "verdict"),
    [((Control(), Rag()), "made"), ((Rag(), FullContext()), "made"), ((Control(), Rag(), FullContext()), "not made")],
)
def test_comparing_by_intuition(arms: tuple[Arm, ...], verdict: str) -> None:
    """Made with one grounded arm, or without a control."""
    assert _found(SMALL, INTUITION, *arms).verdict == verdict


def test_without_a_plan_all_six_are_told_of() -> None:
    """In their order; none is called made, for nothing was looked at."""
    found = mistakes(MIXED_RIGHTS, None)
    assert [one.name for one in found] == [RAG_SMALL, MIXED, VOLATILE, LOOKUPS, NO_LIMIT, INTUITION]
    assert "made" not in {one.verdict for one in found}
