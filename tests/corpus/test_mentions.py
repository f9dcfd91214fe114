"""Dates in the forms in which people and models write them."""

from __future__ import annotations

import pytest

from loadrig.corpus.mentions import dates_mentioned, months_mentioned

FORMS = {
    "on 2031-03-05, said": ("2031-03-05",),
    "2031/03/05": ("2031-03-05",),
    "at 2031-03-05T01:40": ("2031-03-05",),
    "Wednesday 5 March 2031": ("2031-03-05",),
    "the 5th of March, 2031": ("2031-03-05",),
    "March 5th, 2031": ("2031-03-05",),
    "Mar. 5, 2031": ("2031-03-05",),
    "5-Mar-2031": ("2031-03-05",),
    "am 5. März 2031": ("2031-03-05",),
    "05.03.2031": ("2031-03-05", "2031-05-03"),
    "25.03.2031": ("2031-03-25",),
    "on 5 March": ("--03-05",),
    "on March 5 already": ("--03-05",),
    "am 5. März": ("--03-05",),
    "in March 2031": ("2031-03",),
    "im März 2031": ("2031-03",),
    "30 February 2031": ("2031-02-30",),
}
NO_DATES = (
    "twelve may 12 people", "march 5 miles", "paragraph 3.3", "version 1.2.2031.4", "5 marching men",
    "March 5,000 lots", "02-minutes-2031-03-05", "May I?", "in 2031", "16:15",
    "May 2.5 per cent",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMS)
def test_a_date_is_found_however_it_is_written(text: str) -> None:
    """English and German, whole and in part; figures that may be read two ways give both."""
    assert [found.readings for found in dates_mentioned(text)] == [FORMS[text]]


@pytest.mark.parametrize("text", NO_DATES)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    """Amounts, versions, ids, and the verb may."""
    assert dates_mentioned(text) == []


def test_a_month_by_itself_is_found_apart() -> None:
    """With its capital letter; its place is that of the name."""
    assert [(m.start, m.end, m.readings) for m in months_mentioned("may be in February")] == [(10, 18, ("--02",))]
