"""Dates as people write them."""

from __future__ import annotations

import pytest

from loadrig.corpus.dating import dates_in


@pytest.mark.parametrize(
    "text",
    [
        "2034-01-24",
        "24 January 2034",
        "Tuesday, 24th of January 2034",
        "January 24, 2034",
        "Jan. 24th 2034",
        "24-Jan-2034",
        "24. Januar 2034",
        "on 24\nJanuary 2034",
    ],
)
def test_a_date_is_read_in_any_of_these_forms(text: str) -> None:
    """English and German, whole or cut month, ISO."""
    assert [day for _, day in dates_in(text)] == ["2034-01-24"]


@pytest.mark.parametrize(
    "text", ["24 January", "30 February 2034", "24/01/2034", "12034-01-24", "chapter 24, mayor 2034"]
)
def test_what_is_no_whole_date_is_none(text: str) -> None:
    """Without a year, not in the calendar, or open to two readings."""
    assert dates_in(text) == []


def test_dates_come_in_the_order_of_the_text() -> None:
    """Whatever their form; offsets in characters."""
    assert dates_in("9 March 2034, not 2034-03-07") == [(0, "2034-03-09"), (18, "2034-03-07")]
