"""Accuracy over k: an inverted U that is there, and what is none."""

from __future__ import annotations

from typing import Any

import pytest
from compared import nothing_to_collect  # noqa: F401
from experimented import FEW, bits, described, run_of_bits

from loadrig.analysis.experiments.cells import cells
from loadrig.analysis.experiments.curves import Curve, curves


def over(right: dict[int, str], **options: Any) -> tuple[Curve, ...]:
    arms = [described("rag", f"k{k}", k=k, **options) for k in right]
    return curves(cells(run_of_bits(arms, {("m", f"k{k}"): row for k, row in right.items()})), FEW)


def test_an_inverted_u_is_found() -> None:
    """8, 18 and 8 of 20: from k = 5 to 10 ten are lost and none won, p = 2/1024."""
    (found,) = over({3: bits(8), 5: bits(18), 10: bits(8)})
    assert (found.found, found.best, [point.right for point in found.points]) == (True, 5, [8, 18, 8])
    assert found.fall is not None
    assert (len(found.fall.lost), len(found.fall.won), found.fall.p) == (10, 0, pytest.approx(2 / 1024))
    assert found.adjusted_p == found.fall.p


def test_a_fall_that_chance_could_do_is_none() -> None:
    """18 to 15 of 20: three lost, p = 1/4; what 20 questions could have shown is said."""
    (found,) = over({3: bits(8), 5: bits(18), 10: bits(15)})
    assert (found.found, found.adjusted_p) == (False, 0.25)
    assert found.detectable == pytest.approx(0.37, abs=0.05)


@pytest.mark.parametrize(("right", "best"), [((8, 12, 18), 10), ((18, 12, 4), 3), ((8, 8, 8), 3)])
def test_a_best_k_at_an_end_is_none(right: tuple[int, ...], best: int) -> None:
    """Rising all the way, falling all the way, or flat: an inverted U has its top between."""
    (found,) = over({k: bits(n) for k, n in zip((3, 5, 10), right, strict=True)})
    assert (found.found, found.best) == (False, best)
    assert (found.fall is None) is (best == 10)


def test_the_best_k_chosen_afterwards_counts_once_for_each_it_could_have_been() -> None:
    """Of four k two could be the top, so p is doubled: 2 x 2/1024."""
    (found,) = over({3: bits(8), 5: bits(18), 10: bits(17), 20: bits(8)})
    assert found.adjusted_p == pytest.approx(4 / 1024)


def test_two_k_are_no_curve() -> None:
    """Nothing lies between."""
    assert over({5: bits(18), 20: bits(8)}) == ()


def test_families_are_apart_and_answer_for_one_another() -> None:
    """Two families that differ in an option have a curve each, and Holm's adjustment is over both."""
    arms = [described("rag", f"k{k}-{order}", k=k, order=order) for order in ("rank", "document") for k in (3, 5, 10)]
    right = {("m", f"k{k}-{order}"): bits(n) for order in ("rank", "document") for k, n in ((3, 8), (5, 18), (10, 8))}
    found = curves(cells(run_of_bits(arms, right)), FEW)
    assert [curve.adjusted_p for curve in found] == [pytest.approx(4 / 1024)] * 2
