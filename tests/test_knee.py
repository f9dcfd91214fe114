"""The knee of curves whose slots are known."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.knee import Knee, Point, knee

LEVELS = (1, 2, 4, 8, 16, 32)


def curve(slots: float, alone_s: float, levels: tuple[float, ...] = LEVELS, error: float = 0.02) -> list[Point]:
    """min(N, slots) / R0."""
    return [Point(n, min(n, slots) / alone_s, error) for n in levels]


def test_the_asymptotes_meet_at_the_slots() -> None:
    """Five slots of 100 ms: 10 a second for each in flight, 50 at most, and 50 / 10 = 5."""
    found = knee(curve(5, 0.1))
    assert found is not None
    assert (found.at, found.slope, found.most_per_s) == pytest.approx((5, 10, 50))
    assert 4.7 < found.low < 5 < found.high < 5.3
    assert found.reached


@given(st.integers(2, 24), st.floats(0.01, 10), st.integers(0, 1000))
def test_noise_of_its_own_size_does_not_move_it_by_a_step(slots: int, alone_s: float, seed: int) -> None:
    """Any slots and service time, every throughput off by up to 3 %: within 8 % of the slots."""
    chance = random.Random(seed)
    noisy = [Point(p.load, p.per_s * chance.uniform(0.97, 1.03), 0.02) for p in curve(slots, alone_s)]
    found = knee(noisy)
    assert found is not None
    assert found.at == pytest.approx(slots, rel=0.08)


@given(st.permutations(curve(6, 0.2)), st.floats(0.001, 1000))
def test_neither_order_nor_unit_matters(points: list[Point], factor: float) -> None:
    """The knee of stages in any order, counted in any unit of throughput, is the same."""
    whole, scaled = knee(curve(6, 0.2)), knee([Point(p.load, p.per_s * factor, p.error) for p in points])
    assert isinstance(whole, Knee)
    assert isinstance(scaled, Knee)
    assert (scaled.at, scaled.low, scaled.high) == pytest.approx((whole.at, whole.low, whole.high))


def test_a_knee_beyond_the_highest_load_is_not_reached() -> None:
    """Forty slots under at most 32 in flight: not reached, and the knee is not said to lie below."""
    found = knee(curve(40, 0.1))
    assert found is not None
    assert (found.reached, found.high > 32) == (False, True)


def test_throughput_that_falls_behind_the_knee_still_has_one() -> None:
    """8 a second each up to 4, then 32, 28 and 24: between 3 and 4."""
    found = knee([Point(n, x, 0.01) for n, x in ((1, 8), (2, 16), (4, 32), (8, 28), (16, 24))])
    assert found is not None
    assert 3 <= found.at <= 4
    assert found.low < 3.5 < found.high  # the misfit is in the interval


def test_two_stages_or_one_load_have_no_knee() -> None:
    """Nothing to fit two segments to."""
    assert knee(curve(5, 0.1, (1, 2))) is None
    assert knee(curve(5, 0.1, (4, 4, 4))) is None
    assert knee([Point(n, 0.0, 0.1) for n in LEVELS]) is None
