"""Nouns that a corpus numbers, and their numbers."""

from __future__ import annotations

from loadrig.corpus.numbered import number_of_id, numbering_nouns, numbers_in

TEXTS = (
    "See minutes no. 1.\n\n## 5 Request 8: fog\n\nRequest 2\n\nRequest 3\n\nRoom 9 is cold.",
    "Minutes no. 2, order nr. 7",
)


def test_nouns_are_those_with_several_numbers() -> None:
    """By no. two numbers, by headings three; a room that is named once is none, nor is an order."""
    texts = (*TEXTS, "Request 4\n")
    assert numbering_nouns(texts, ["pep-0484"]) == {"minute", "request", "pep"}


def test_numbers_are_read_in_every_form_and_amounts_are_not() -> None:
    """Plural and case fold; `15 minutes 30`, a decimal and a per cent sign are amounts."""
    text = "Minutes 3, minutes no. 4, 5 Request 8; but 15 minutes 30, request 2.5, request 7 %"
    assert [found.name for found in numbers_in(text, {"minute", "request"})] == ["minute 3", "minute 4", "request 8"]


def test_a_document_is_numbered_by_its_id_when_that_is_all_of_it() -> None:
    """`pep-0484` is PEP 484; minutes with a date in their id are not numbered by it."""
    assert (number_of_id("pep-0484"), number_of_id("01-minutes-2034")) == ("pep 484", None)
