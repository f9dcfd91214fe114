"""Text into words: one spelling for one word, in any script."""

# ruff: noqa: RUF001 - letters of other scripts are the point

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.retrievers.words import words_of


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_gives_its_runs_of_letters_and_digits(text: str) -> None:
    """On ASCII the rule is `[a-z0-9]+` of the lower-cased text."""
    assert words_of(text) == re.findall(r"[a-z0-9]+", text.lower())


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_one_foreign_letter_does_not_change_the_other_words(text: str) -> None:
    """The rule for other scripts gives the same words on ASCII text."""
    assert words_of(f"{text} ж") == [*words_of(text), "ж"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RX-0040 x_1", ["rx", "0040", "x", "1"]),
        ("Насос", ["насос"]),
        ("cafe\u0301", ["café"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("हिन्दी पाठ", ["हिन्दी", "पाठ"]),
        ("ポンプ室", ["ポ", "ン", "プ", "室", "ポン", "ンプ", "プ室"]),
        ("\uff8e\uff9f\uff9d\uff8c\uff9f", ["ポ", "ン", "プ", "ポン", "ンプ"]),
        ("A型", ["a", "型"]),
        ("…—!", []),
    ],
)
def test_words_of_other_scripts(text: str, words: list[str]) -> None:
    """Marks stay with their letters, forms are made equal, runs without spaces give characters and pairs."""
    assert words_of(text) == words
