"""The pre-check: entries, alternatives, and where a value stands alone."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.graders.precheck import hits, passes


def test_every_entry_must_hit() -> None:
    """One entry of two is not enough; both are, in any order."""
    assert passes("Six scanners at 214 crowns.", ["214", "six"])
    assert not passes("Six scanners.", ["214", "six"])


def test_one_alternative_is_enough() -> None:
    """`||` separates alternatives, and white space around them does not count."""
    assert hits("It is dropped.", "removed || dropped")
    assert not hits("It is kept.", "removed || dropped")


@pytest.mark.parametrize("answer", ["8", "8.", "8%", "(8)", "8, 9", "**8**", "_8_", "3-8", "8:30", "8-10"])
def test_a_number_hits_where_it_is_whole(answer: str) -> None:
    """Punctuation, emphasis and a range leave a number whole."""
    assert hits(answer, "8")


@pytest.mark.parametrize("answer", ["18", "80", "8.5", "1.8", "8,5", "1,8", "8,000", "-8", "\u22128", "8x", "x_8"])
def test_a_number_does_not_hit_inside_another(answer: str) -> None:
    """`8` is not a part of another number or name, and not its negative."""
    assert not hits(answer, "8")


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("written in C++.", "C++"),
        ("about 2% more", "2%"),
        ("the file a.start", ".start"),
        ("at -18 degrees", "-18"),
        ("a factor of .5", ".5"),
        ("match ([^.]+)", "[^.]"),
    ],
)
def test_values_with_odd_ends_hit(answer: str, value: str) -> None:
    """A value that begins or ends with a sign is found, although no word border stands there."""
    assert hits(answer, value)


@pytest.mark.parametrize(("answer", "value"), [("12%", "2%"), ("10-18", "-18"), ("8.5", ".5"), ("QS-18", "-18")])
def test_a_signed_number_does_not_hit_inside_another(answer: str, value: str) -> None:
    """A number with a sign or a unit is whole, too."""
    assert not hits(answer, value)


def test_words_are_whole() -> None:
    """`pen` is in no `pencil`, no `Open`, no `my_pen`; `_pen_` is only emphasis; letters are those of any script."""
    assert not any(hits(answer, "pen") for answer in ["pencil", "Open", "my_pen", "pené", "пpen"])
    assert hits("_pen_ and __ink__", "pen")
    assert hits("__ink__", "INK")


def test_typography_makes_no_difference() -> None:
    """Curly quotes, long dashes, hard spaces, line ends and composed accents compare equal."""
    assert hits("the growers\u2019 delegate", "growers' delegate")
    assert hits("the day\u2011book", "day-book")
    assert hits("chamber\u00a0\n 3", "chamber 3")
    assert hits("cafe\u0301", "CAF\u00c9")


def test_blank_alternatives_never_hit() -> None:
    """A slip in a key (`a||`) does not let every answer pass, and an empty answer has nothing."""
    assert not hits("anything", "a||")
    assert not hits("anything", "")
    assert not passes("", ["a"])


def test_nothing_demanded_is_met() -> None:
    """A question without `must_contain` has no pre-check to fail."""
    assert passes("anything", [])


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=8))
def test_a_value_set_apart_by_spaces_hits(left: str, right: str, value: str) -> None:
    """Whatever surrounds it, a value between spaces is found unless it is blank."""
    assert hits(f"{left} {value} {right}", value.replace("|", "")) or "|" in value or not value.split()


def test_long_answers_are_checked_quickly() -> None:
    """A degenerate answer of a million characters does not stall the grading."""
    begin = time.perf_counter()
    assert not hits("8" * 200_000 + "_" * 800_000, "8")
    assert time.perf_counter() - begin < 2
