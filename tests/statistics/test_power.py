"""What n questions can show: published powers, and the sentence that follows from them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadrig.statistics.power import detectable, fewest_one_way, power


@pytest.mark.parametrize(("n", "share"), [(20, 0.02), (50, 0.31), (100, 0.73), (117, 0.82), (200, 0.97)])
def test_power(n: int, share: float) -> None:
    """95 % against 85 % with 12 % lost and 2 % won, to a point."""
    assert power(n, lost=0.12, won=0.02) == pytest.approx(share, abs=0.01)


def test_six_pairs_of_one_way_are_the_fewest() -> None:
    """A-119: below six one-way pairs no exact McNemar is under .05; below seven none is under .025."""
    assert (fewest_one_way(), fewest_one_way(0.025)) == (6, 7)


@pytest.mark.parametrize(("n", "points"), [(20, 36.6), (50, 15.4), (110, 7.1)])
def test_smaller_differences_could_not_have_been_seen(n: int, points: float) -> None:
    """With 20 questions nothing below 36.6 points at 80 %, even if every differing question went the same way."""
    found = detectable(n)
    assert found is not None
    assert 100 * found == pytest.approx(points, abs=0.06)


def test_what_goes_the_other_way_costs_power() -> None:
    """With 5 % of the questions against it the difference must be larger: 46.0 points at 20."""
    assert 100 * (detectable(20, against=0.05) or 0) == pytest.approx(46.0, abs=0.06)


def test_five_questions_can_show_nothing() -> None:
    """Even five of five one way is p = .0625."""
    assert detectable(5) is None


def test_no_difference_is_found_no_more_often_than_alpha() -> None:
    """With as many lost as won it is the rate of false alarms: at most 5 %."""
    assert 0 < power(110, lost=0.1, won=0.1) <= 0.05
    assert power(110, lost=0, won=0) == 0


@given(st.integers(6, 60), st.floats(0.1, 0.9))
@settings(max_examples=25)
def test_more_of_one_way_is_found_more_often(n: int, lost: float) -> None:
    """Power is a probability, and rises with a one-way difference."""
    assert 0 <= power(n, lost=lost / 2, won=0) <= power(n, lost=lost, won=0) + 1e-12 <= 1 + 2e-12
