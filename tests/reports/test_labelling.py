"""Names beside marks: none covers another or a mark while there is room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadrig.reports.html.labelling import BESIDE, LETTER, LINE, Box, over, places

marks = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 300)), max_size=5)


def boxes(at: list[tuple[float, float]], name: str) -> list[Box]:
    return [(x, y - LINE / 2, x + LETTER * len(name), y + LINE / 2) for x, y in at]


def test_a_name_stands_above_its_mark_and_a_second_below() -> None:
    """Two marks at one place: 14 pixels up, and 3 down, both 9 to the right."""
    assert places([(0, 50), (0, 50)], ["a", "b"], 100) == [(BESIDE, 50 - 14 + 6), (BESIDE, 50 + 3 + 6)]


def test_a_name_stays_in_the_picture() -> None:
    """At the very bottom it goes up, at the top down."""
    assert [y for _, y in places([(0, 100), (200, 0)], ["a", "b"], 100)] == [92, 9]


@given(marks)
def test_few_names_never_cover_one_another(of: list[tuple[int, int]]) -> None:
    """Five names have room in 300 pixels wherever their marks are."""
    found = boxes(places(of, ["arm"] * len(of), 300), "arm")
    assert not any(over(one)(other) for place, one in enumerate(found) for other in found[place + 1 :])
