"""A simulated model that is told to summarise: extractive, within the words allowed."""

from __future__ import annotations

import pytest

from loadrig.simulator.documents import Source, parse
from loadrig.simulator.request import Message
from loadrig.simulator.summarising import NOTHING, most_words, summary

TEXT = "The fee was raised to 40 crowns. The fee had been 30 crowns. It rained. The fee is paid in May."
OTHER = "Gates open at 8. The keys are kept by Anna."


def _source(text: str, identity: str | None = None) -> Source:
    return Source(0, identity, None, None, parse(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Summarise the document above in at most 120 words: what holds.", 120),
        ("summarize the 5 texts above in at most 40 words", 40),
        ("Question: Summarise all in at most 40 words?", None),
        ("Question: What is the fee?", None),
    ],
)
def test_a_wish_for_a_summary_is_one_that_opens_so(text: str, words: int | None) -> None:
    """A question about summaries is a question."""
    assert most_words((Message("user", ({"type": "text", "text": text},)),)) == words


@pytest.mark.parametrize("words", [5, 7, 14, 40])
def test_it_says_nothing_new_and_no_more_than_it_may(words: int) -> None:
    """Every line is a sentence of the text, in its order, and all of them are within the words."""
    lines = summary([_source(TEXT)], "", words).splitlines()
    assert all(line in TEXT for line in lines)
    assert [TEXT.index(line) for line in lines] == sorted(TEXT.index(line) for line in lines)
    assert sum(len(line.split()) for line in lines) <= words


def test_what_matters_in_a_text_comes_first() -> None:
    """With room for one sentence: that of the fee which was raised, not the weather."""
    assert summary([_source(TEXT)], "", 7) == "The fee was raised to 40 crowns."


def test_each_text_has_an_equal_share() -> None:
    """Fourteen words over two texts: one sentence of each."""
    told = summary([_source(TEXT), _source(OTHER)], "", 14)
    assert told == "The fee was raised to 40 crowns.\nGates open at 8."


def test_ids_stand_behind_statements_where_they_are_wished_for() -> None:
    """In square brackets, once, and none for a text without an id."""
    wish = "Behind each statement put the ids in square brackets."
    assert summary([_source(OTHER, "rules")], wish, 4) == "Gates open at 8. [rules]"
    assert summary([_source("Gates open at 8 [rules].", "upper")], wish, 9) == "Gates open at 8 [rules]."
    assert summary([_source(OTHER)], wish, 4) == "Gates open at 8."


def test_without_a_text_it_says_so() -> None:
    """There is nothing to make up."""
    assert summary([], "", 100) == NOTHING
