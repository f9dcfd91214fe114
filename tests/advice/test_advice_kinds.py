"""Of which kind a question is: by its category, its gold documents, or its wording, in this order."""

from __future__ import annotations

import pytest

from loadrig.advice.kinds import Kinds, kind_of, kinds_of
from loadrig.words.corpus import Question


def _question(text: str, category: str = "other", gold: tuple[str, ...] = ()) -> Question:
    return Question("q", category, text, "", gold=gold)


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("simple_fact", "lookup"), ("paraphrase", "lookup"), ("supersession", "lookup"), ("negative_trap", "lookup"),
        ("multi_hop", "multi_hop"), ("aggregation", "whole_set"), ("absence", "absence"),
    ],
)  # fmt: skip
def test_a_known_category_says_the_kind(category: str, kind: str) -> None:
    """Whatever the words are and however many gold documents there are."""
    assert kind_of(_question("Wie viele Etiketten?", category, ("a", "b", "c")), 4) == (kind, False)


@pytest.mark.parametrize(("gold", "kind"), [(1, "lookup"), (2, "multi_hop"), (5, "multi_hop"), (6, "whole_set")])
def test_of_another_category_the_gold_documents_say_it(gold: int, kind: str) -> None:
    """Of ten documents: one is a lookup, two to five several hops, more than half the whole set."""
    assert kind_of(_question("What?", gold=tuple(map(str, range(gold)))), 10) == (kind, False)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What is the fee?", "lookup"),
        ("Compare all contracts by their fee.", "whole_set"),
        ("Which of the contracts lack a clause on liability?", "absence"),
        ("Does it follow?", "unsure"),
    ],
)
def test_without_gold_the_wording_is_guessed_from(text: str, kind: str) -> None:
    """And counted as a guess."""
    assert kind_of(_question(text), 10) == (kind, True)


def test_a_whole_set_question_of_what_is_not_there_is_one_of_absence() -> None:
    """The set's own category does not tell the two apart."""
    text = "How many of the twelve papers never mention beans?"
    assert kind_of(_question(text, "aggregation"), 12) == ("absence", False)
    assert kind_of(_question("Which roles are there?", "aggregation"), 12) == ("whole_set", False)


def test_kinds_are_counted() -> None:
    """Two lookups, one of them by its wording, and one of the whole set."""
    asked = [_question("a", "simple_fact"), _question("What is the fee?"), _question("b", "aggregation")]
    found = kinds_of(asked, 5)
    assert found == Kinds(lookup=2, whole_set=1, guessed=1)
    assert (found.n, found.whole, str(found)) == (3, 1, "2 lookup, 1 whole_set")


@pytest.mark.parametrize(
    ("kinds", "mostly"),
    [
        (Kinds(), True), (Kinds(unsure=9), True), (Kinds(lookup=1, multi_hop=1), False),
        (Kinds(lookup=2, multi_hop=1, unsure=7), True), (Kinds(whole_set=1), False),
    ],
)  # fmt: skip
def test_mostly_lookups_is_more_than_half_of_those_told(kinds: Kinds, mostly: bool) -> None:
    """Exactly half is not; questions of which nothing is told do not count."""
    assert kinds.single_hop is mostly
