"""What is said before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loadrig.arms.rag import Rag
from loadrig.arms.route import Route
from loadrig.execution.prepare import prepare
from loadrig.words.arm import Arm
from loadrig.words.settings import BudgetSettings, ModelSettings, Plan, QuestionSettings
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


@pytest.mark.parametrize(
    ("arm", "texts", "is_said"),
    [
        (Route(), ("Wann werden Apfelbäume geschnitten?", "Wie lange?"), True),
        (Route(), ("Wann werden Apfelbäume geschnitten?", "When are apples pruned?"), False),
        (Route(by="classifier"), ("Wie lange?",), False),
        (Rag(k=2), ("Wie lange?",), False),
    ],
)
def test_rules_that_tell_nothing_of_any_question_are_said_beforehand(
    tmp_path: Path, arm: Arm, texts: tuple[str, ...], is_said: bool
) -> None:
    """A router by rules over German questions sends all one way; one English question among them, and it does not."""
    rows = [
        {"id": f"q{n}", "category": "fact", "question": text, "reference": "x", "must_contain": ["x"]}
        for n, text in enumerate(texts)
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = prepare(plan(arm, questions=QuestionSettings(path=str(path)))).warnings
    said = f"route-rules: the rules, which are of English, cannot tell the kind of any of the {len(texts)} questions"
    assert [one.split(":")[0] for one in found] == (["route-rules"] if is_said else [])
    assert not is_said or found[0].startswith(said)
