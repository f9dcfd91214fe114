"""The simulated judge: words against words, from the case alone, and two dials that make it worse."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from simulated import FAST, asking, document, running

from loadrig.simulator.judge import judge

CASE = (
    "<question>\nWhat is the fee?\n</question>\n<reference>\nThe fee is 12 crowns.\n</reference>\n"
    "<superseded>\nThe fee is 9 crowns a day\n</superseded>\n<answer>\n{}\n</answer>"
)


def verdict(text: str, **dials: float) -> dict[str, object]:
    said = judge(text, Random(1), **dials)
    assert said is not None
    found: dict[str, object] = json.loads(said)
    return found


@pytest.mark.parametrize(
    ("answer", "correct", "stale"),
    [
        ("12 crowns is the fee.", True, False),
        ("The fee is 9 crowns a day.", False, True),
        ("The documents do not say.", False, False),
    ],
)
def test_an_answer_is_held_against_reference_and_superseded_values(answer: str, correct: bool, stale: bool) -> None:
    """Right in other words, superseded, and declined."""
    found = verdict(CASE.format(answer))
    assert (found["correct"], found["stale"], found["invented"]) == (correct, stale, False)


def test_the_opposite_opening_is_wrong() -> None:
    """The right facts behind a no do not help where the reference says yes."""
    case = "<question>\nq\n</question>\n<reference>\nYes. There is.\n</reference>\n<answer>\n{} There is.\n</answer>"
    assert [verdict(case.format(said))["correct"] for said in ("Yes.", "No.")] == [True, False]


@pytest.mark.parametrize(("answer", "supported"), [("The fee is 12 crowns.", True), ("The fee is 15 dollars.", False)])
def test_support_is_in_the_documents_given(answer: str, supported: bool) -> None:
    """Nearly all words of the answer stand in them."""
    text = (
        document("a", "The fee is 12 crowns.")
        + f"\n<question>\nWhat is it?\n</question>\n<answer>\n{answer}\n</answer>"
    )
    assert verdict(text)["supported"] is supported


def test_the_dials_turn_verdicts_round_and_leave_them_out() -> None:
    """All of them, at 1."""
    assert verdict(CASE.format("12 crowns is the fee."), errs=1.0)["correct"] is False
    assert "{" not in str(judge(CASE.format("12"), Random(1), mumbles=1.0))


def test_a_question_is_no_case() -> None:
    """Without an answer between tags at its end nothing is judged."""
    assert judge("Question: What is the fee?", Random(1)) is None


def test_it_judges_over_the_socket(tmp_path: Path) -> None:
    """A case as a request, a verdict as the reply's text."""
    with running(FAST, tmp_path) as simulator:
        body = asking("")
        body["messages"] = [{"role": "user", "content": [{"type": "text", "text": CASE.format("12 crowns, the fee.")}]}]
        assert json.loads(simulator.post(body).text)["correct"] is True
