"""Kappa and alpha against values worked out elsewhere, and where they are not defined."""

from __future__ import annotations

import pytest

from loadrig.statistics.kappa import alpha, cohen


def test_kappa_of_the_textbook() -> None:
    """35 of 50 alike with halves as chance's share: (.7 - .5) / (1 - .5) = .4."""
    assert cohen([[20, 5], [10, 15]]).kappa == pytest.approx(0.40)


def test_kappa_is_near_zero_where_nearly_all_is_right() -> None:
    """118 of 120 alike, raw .983: chance alone gives .98347, so kappa is -.008."""
    assert cohen([[118, 1], [1, 0]]).kappa == pytest.approx(-0.0084, abs=5e-5)


def test_kappa_of_one_mark_for_all_is_not_defined() -> None:
    """Both said yes ten times: chance agrees always, and 0 divided by 0 is no number, nor a warning."""
    found = cohen([[10, 0], [0, 0]])
    assert (found.kappa, found.low, found.high) == (None, None, None)


def test_full_agreement_is_one() -> None:
    """Five yes and five no, alike."""
    assert cohen([[5, 0], [0, 5]]).kappa == pytest.approx(1)
    assert alpha([[True, False], [True, False], [True, False]]) == pytest.approx(1)


def test_alpha_takes_answers_that_not_all_have_marked() -> None:
    """Answers marked yes yes, yes no yes, no no: 4 yes of 7. Unlike pairs, each way: 4 / 2 = 2 in the second; expected
    2 x 4 x 3 / 6 = 4; alpha is 1 - 2 / 4."""
    assert alpha([[True, True, None], [True, False, False], [None, True, False]]) == pytest.approx(0.5)


def test_alpha_of_one_mark_for_all_is_not_defined() -> None:
    """Three graders who only ever said yes."""
    assert alpha([[True, True], [True, None], [True, True]]) is None
