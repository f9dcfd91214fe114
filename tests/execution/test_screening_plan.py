"""The small protocol that `run --screen` lays over a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loadrig.arms.agentic import Agentic
from loadrig.arms.control import Control
from loadrig.arms.full_context import FullContext
from loadrig.arms.rag import Rag
from loadrig.execution.options import Overrides
from loadrig.execution.prepare import prepare_screening
from loadrig.execution.screening import laid_over, spread, too_wide
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.errors import InputError
from loadrig.words.settings import ModelSettings, Plan
from plans import plan

ARMS = (Control(), Rag(k=3), Rag(k=10), FullContext(), Agentic())


def screened(*arms: Any, flags: Overrides | None = None, **given: Any) -> Plan:
    return laid_over(plan(*arms, **given), flags or Overrides()).plan


def names(of: Plan) -> list[str]:
    return [arm.name for arm in of.arms]


@pytest.mark.parametrize(
    ("arms", "kept"),
    [
        (ARMS, ["control", "rag-bm25-k3", "full_context"]),
        ((Control(), Rag(k=10), Rag(k=7)), ["control", "rag-bm25-k7"]),
        ((Control(), Rag(k=7), Rag(k=3)), ["control", "rag-bm25-k3"]),
        ((Rag(k=20), Rag(k=5), Rag(k=5, unit="document")), ["control", "rag-bm25-k5"]),
        ((FullContext(), Agentic(), Control()), ["control", "full_context"]),
    ],
)
def test_three_arms_are_kept(arms: tuple[Any, ...], kept: list[str]) -> None:
    """The control, first and even where the plan has none; the k nearest 5, the smaller of two; full context."""
    assert names(screened(*arms)) == kept


def test_a_plan_without_a_grounded_arm_that_is_kept_is_refused() -> None:
    """Agentic alone: nothing to hold against the control, and the remedy names the flag."""
    with pytest.raises(InputError, match="neither rag nor full_context, only control, agentic") as error:
        screened(Control(), Agentic())
    assert "--arm" in str(error.value)


@pytest.mark.parametrize(
    ("load", "levels", "rates"),
    [
        ({"concurrency": (8, 2, 4), "cycle": True, "duration_s": 60.0}, (2,), None),
        ({"concurrency": None, "cycle": True}, (8,), None),
        ({"concurrency": None, "rate": (5.0, 0.5), "duration_s": 60.0}, (8,), (0.5,)),
    ],
)
def test_the_lowest_load_in_one_pass(load: dict[str, Any], levels: tuple[int, ...], rates: Any) -> None:
    """One stage, at the lowest level or rate, without a stated duration, the set asked once."""
    found = screened(*ARMS, load=load, repetitions=3)
    assert (found.load.levels, found.load.rate) == (levels, rates)
    assert (found.load.cycle, found.load.duration_s, found.repetitions) == (False, None, 1)


def test_flags_of_size_are_the_screenings_and_win() -> None:
    """What is named by hand is what is screened with; the full plan keeps its own."""
    flags = Overrides(arm=("agentic",), concurrency=(3,), duration_s=9.0, repetitions=2, limit=7)
    found = laid_over(plan(*ARMS, load={"concurrency": (8, 2)}, repetitions=5), flags)
    assert (names(found.plan), found.plan.load.levels, found.plan.repetitions) == (["agentic"], (3,), 2)
    assert (found.plan.load.duration_s, found.most, found.named) == (9.0, 7, True)
    assert (names(found.full), found.full.load.levels, found.full.repetitions) == (
        ["control", "rag-bm25-k3", "rag-bm25-k10", "full_context", "agentic"], (8, 2), 5,
    )  # fmt: skip


def test_other_flags_hold_for_both() -> None:
    """Another endpoint and a budget are no size."""
    found = laid_over(plan(*ARMS), Overrides(base_url="http://127.0.0.1:9", budget="1.00"))
    for of in (found.plan, found.full):
        assert (of.model[0].base_url, of.budget.money) == ("http://127.0.0.1:9", "1.00")


def test_questions_are_taken_from_each_category_in_turn() -> None:
    """Of 5 + 1 + 2 in file order four: the first of each, then the second of the first; told in file order."""
    file = [Question(f"q{n}", category, "?", "") for n, category in enumerate("aaabaacc")]
    assert [one.id for one in spread(file, 4)] == ["q0", "q1", "q3", "q6"]
    assert [one.id for one in spread(file, 20)] == [one.id for one in file]


@pytest.mark.parametrize(("model", "wide"), [("claude-haiku-4-5", True), ("claude-haiku-5-5", False), ("x", False)])
def test_a_corpus_that_does_not_fit_is_left_out_and_told(model: str, wide: bool) -> None:
    """200,000 tokens of ours, times 1.3, do not fit a window of 200,000; they fit a million; unknown is no reason."""
    corpus = Corpus("c", (Document("d", "", 200_000),), (), (), "", "none")
    found = too_wide(plan(Control(), FullContext(), model=(ModelSettings(id=model),)), corpus)
    assert list(found) == (["full_context"] if wide else [])
    assert all("do not fit the 200,000 of claude-haiku-4-5" in why for why in found.values())


def test_a_screening_is_prepared_with_the_full_plan_beside_it() -> None:
    """Two of four questions in three arms are six trials; the full plan has four in five arms, three times: sixty."""
    found = prepare_screening(laid_over(plan(*ARMS, repetitions=3), Overrides(limit=2)))
    assert (len(found.questions), len(found.trials)) == (2, 6)
    assert found.screened is not None
    full = found.screened.full
    assert (full.questions, full.trials, len(full.arms), found.screened.left_out) == (4, 60, 5, ())
    assert full.output_tokens == 60 * 300


def test_the_full_plan_is_estimated_as_the_plan_command_does() -> None:
    """The same plan: sixty trials at two in flight and five seconds each are 150 s."""
    found = prepare_screening(laid_over(plan(*ARMS, repetitions=3), Overrides()))
    assert found.screened is not None
    assert found.screened.full.seconds == 150
    assert found.estimate.prompt_tokens < found.screened.full.prompt_tokens


def test_a_plan_too_wide_is_screened_without_full_context() -> None:
    """Named in the warnings and in what was left out; named by hand it stays."""
    tight = replace(
        plan(*ARMS), model=(ModelSettings(id="claude-haiku-4-5", base_url="simulator", max_tokens=200_000),)
    )
    found = prepare_screening(laid_over(tight, Overrides()))
    assert names(found.plan) == ["control", "rag-bm25-k3"]
    assert found.screened is not None
    assert found.screened.left_out[0] in found.warnings
    by_hand = prepare_screening(laid_over(tight, Overrides(arm=("control", "full_context"))))
    assert names(by_hand.plan) == ["control", "full_context"]
