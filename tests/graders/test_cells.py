"""Texts in cells: nothing a spreadsheet runs or converts, and back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.graders.cells import CELL, cells, guarded, joined, same, shown

ODD = st.sampled_from(
    ["=1+1", "+", "-5", "@SUM(A1)", "\t", "\r\n", "\r", "\n", "'", '"', ",", ";", "🦉", "é", "\x00", "_x0041_"]
)
TEXTS = st.lists(st.text(max_size=12) | ODD, max_size=8).map("".join)


@given(TEXTS)
def test_a_text_comes_back_as_it_was_shown(text: str) -> None:
    """Whatever it is: what is put in front is taken off again, and of other text nothing is."""
    assert joined(cells(text)) == shown(text)


@given(TEXTS)
def test_no_cell_starts_a_formula(text: str) -> None:
    """M1: no cell begins with = + - @, a tab or a line end."""
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in cells(text))


@pytest.mark.parametrize(
    "text",
    ["1-2", "12345678901234567890", "5 %", "May 5, 2034", "TRUE", "1e5", "#N/A", "8:30", "$ 5", "148,600 crowns"],
)
def test_what_a_spreadsheet_would_convert_is_marked_as_text(text: str) -> None:
    """Ranges, long numbers, dates, truth values, amounts."""
    assert guarded(text) == f"'{text}"


def test_prose_is_left_alone() -> None:
    """A sentence needs no apostrophe, however many numbers are in it."""
    prose = "The price is 148,600 crowns, payable in four equal parts."
    assert cells(prose) == [prose]


def test_a_text_longer_than_a_cell_is_continued() -> None:
    """40,000 owls of two UTF-16 units each: three cells of at most 32,767 units, none of them cut."""
    parts = cells("🦉" * 40_000)
    assert [len(part) for part in parts] == [CELL + 1, CELL + 1, 8_001]  # an apostrophe each: no letter in it
    assert max(len(part.encode("utf-16-le")) // 2 for part in parts) <= 32_767
    assert joined(parts) == "🦉" * 40_000


def test_control_characters_are_shown_as_pictures() -> None:
    """XML cannot hold them; a grader sees that there was one. Line ends become one, a tab a blank."""
    assert shown("a\x00b\x1bc\r\nd\re\tf") == "a\u2400b\u241bc\nd\ne f"


def test_white_space_is_no_change_and_a_letter_is() -> None:
    """Spreadsheets trim; a date in place of a range is damage."""
    assert same("\ta  b\r\n", "a b")
    assert not same("1-2", "02/01/34")
