"""Readers without understanding: what each of them names, and how it is counted."""

from __future__ import annotations

import pytest

from loadrig.corpus.ledger import Fact, State
from loadrig.corpus.oracles import ORACLES, Score, mentions_of, scores

LAMP = Fact(
    id="lamp", about="hours", shape="value", pattern="amendment",
    states=(
        State("9", "a", "2031-01-01", "the lamp burns for 9 hours", ("9 hours",)),
        State("12", "b", "2031-02-01", "now it burns for 12 hours", ("12 hours",)),
    ),
)  # fmt: skip
DOOR = Fact(
    id="door", about="a door", shape="existence", pattern="reversal",
    states=(
        State("no", "a", "2031-01-01", "there is no door"),
        State("yes", "a", "2031-01-01", "a door is cut"),
        State("no", "b", "2031-02-01", "the door is walled up"),
    ),
)  # fmt: skip
STEPS = Fact("steps", "steps", "value", "stable", (State("40", "a", "2031-01-01", "forty steps"),))
TEXTS = {"a": "the lamp burns for 9 hours. there is no door. a door is cut.", "b": "now it burns for 12 hours."}


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (TEXTS, ["9", "12", "9"]),
        ({"a": TEXTS["a"], "b": "12 hours, 12 hours"}, ["9", "12", "12"]),
        ({"a": "12 hours", "b": "9 hours"}, ["12", "9", "12"]),
        ({"a": "nothing"}, [None, None, None]),
    ],
)
def test_first_last_and_most_frequent(texts: dict[str, str], named: list[str | None]) -> None:
    """By order of documents, then of the text; of values met equally often the first; nothing without a mention."""
    assert [oracle(mentions_of(LAMP, texts)) for oracle in ORACLES.values()] == named


def test_the_longest_phrase_counts_once() -> None:
    """`9 hours` inside the whole sentence is no mention of its own, `19 hours` none at all."""
    found = mentions_of(LAMP, {"a": "the lamp burns for 9 hours, not 19 hours, nor 12 hours"})
    assert [(mention.at, mention.phrase) for mention in found] == [(0, LAMP.states[0].quote), (46, "12 hours")]


def test_a_value_that_came_back_is_right_by_any_of_its_mentions() -> None:
    """No, yes, no: the first mention names what holds in the end, the last that is there does not."""
    assert [oracle(mentions_of(DOOR, TEXTS)) for oracle in ORACLES.values()] == ["no", "yes", "no"]


def test_scores_are_over_changing_facts_and_their_questions() -> None:
    """A question on two facts needs both; one on a fact that never changed is left out."""
    assert scores([LAMP, DOOR, STEPS], TEXTS, [["lamp"], ["lamp", "door"], ["door", "steps"], ["steps"]]) == (
        Score("first mention", 1, 2, 1, 3),
        Score("last mention", 1, 2, 1, 3),
        Score("most frequent", 1, 2, 1, 3),
    )
