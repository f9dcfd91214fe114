"""What is said before anything is sent."""

from __future__ import annotations

import pytest

from loadrig.arms.rag import Rag
from loadrig.execution.prepare import prepare
from loadrig.words.settings import BudgetSettings, ModelSettings, Plan
from plans import plan

UNPRICED = (ModelSettings(id="unheard-of"),)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (plan(Rag(k=2)), ()),
        (plan(Rag(k=2), Rag(k=999)), ("rag-bm25-k999: the corpus has only 5 chunks",)),
        (plan(model=UNPRICED), ("no price for model unheard-of: its cost is unknown and totals are partial",)),
        (
            plan(model=UNPRICED, budget=BudgetSettings(money="1.00")),
            (
                "no price for model unheard-of: its cost is unknown and totals are partial",
                "the budget in money cannot be kept for a model without a price",
            ),
        ),
        (plan(load={"concurrency": (2, 2)}), ("a level of load listed twice is run once",)),
    ],
)
def test_what_a_plan_cannot_give_is_said_beforehand(of: Plan, said: tuple[str, ...]) -> None:
    """F6, G7, K3: more passages than there are, a model without a price, a level listed twice; else nothing."""
    assert prepare(of).warnings == said
