"""MSER-5 and the error of a rate, on series that can be reckoned by hand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.steady import Steadiness, mser5, rate_error


def test_a_transient_is_cut_where_it_ends() -> None:
    """Twenty-five values of 10 before seventy-five of 1: behind five batches nothing varies any more."""
    assert mser5([10.0] * 25 + [1.0] * 75) == Steadiness(n=100, cut=25, steady=True)


def test_the_statistic_weighs_what_is_lost_against_what_is_gained() -> None:
    """Batch means 2, 0 and eighteen times 1: MSER(0) = 2 / 400 = .005, MSER(1) = .947 / 361 = .0026, MSER(2) = 0."""
    series = [2.0] * 5 + [0.0] * 5 + [1.0] * 90
    assert mser5(series) == Steadiness(n=100, cut=10, steady=True)
    assert mser5([1.1, *[1.0] * 99]) == Steadiness(n=100, cut=5, steady=True)
    alternating = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0] * 10
    assert mser5(alternating) == Steadiness(n=100, cut=0, steady=True)  # cutting only loses data


def test_a_series_that_rises_to_its_end_is_not_steady() -> None:
    """1, 2, ... 100: the cut is as late as it may be, five batches before the end, and the halves lie 50 apart."""
    assert mser5([float(n) for n in range(1, 101)]) == Steadiness(n=100, cut=75, steady=False)


def test_too_short_a_series_is_not_judged() -> None:
    """Ninety-nine values are nineteen batches; a hundred are twenty."""
    assert mser5([1.0] * 99) is None
    assert mser5([1.0] * 104) == Steadiness(n=104, cut=0, steady=True)  # four do not fill a batch


def test_a_steady_series_with_a_long_tail_is_seldom_called_unsteady() -> None:
    """Of 300 series of 200 exponential values at most 9 (3 %); the truncation rule alone flags 27."""
    chance = random.Random(5)
    found = [mser5([chance.expovariate(1.0) for _ in range(200)]) for _ in range(300)]
    assert sum(not one.steady for one in found if one is not None) <= 9


def test_neither_is_one_that_depends_on_its_past() -> None:
    """Of 200 queues of four slots that are busy for 80 % of the time at most 8, of a thousand waits each."""
    found = [mser5(queued(random.Random(seed), 1000)) for seed in range(200)]
    assert sum(not one.steady for one in found if one is not None) <= 8


def queued(chance: random.Random, trials: int) -> list[float]:
    """Times in a queue of four slots, Poisson arrivals at 80 % of what they can do, the first fifty left out."""
    now, free, took = 0.0, [0.0] * 4, []
    for _ in range(trials + 50):
        now += chance.expovariate(3.2)
        ended = max(now, min(free)) + chance.uniform(0.8, 1.2)
        free[free.index(min(free))] = ended
        took.append(ended - now)
    return took[50:]


@given(st.lists(st.floats(0.1, 100), min_size=100, max_size=300), st.floats(0.01, 100))
def test_the_unit_does_not_matter(series: list[float], factor: float) -> None:
    """A power of two scales every sum exactly: seconds or eighths of them, the cut is the same."""
    scale = 2.0 ** round(factor)
    assert mser5(series) == mser5([scale * value for value in series])


def test_the_error_of_a_rate_is_that_of_its_batches() -> None:
    """A thing a second has none. Twenty times 1 s, then twenty times 3 s, in batches of five: four of 5 s and four of
    15 s, mean 10, standard deviation 5.345, error 5.345 / 10 / sqrt(8) = .189."""
    assert rate_error([float(n) for n in range(100)]) == 0
    ends = [float(n) for n in range(21)] + [20.0 + 3 * n for n in range(1, 21)]
    assert rate_error(ends) == pytest.approx(0.18898, abs=1e-5)
    assert rate_error([1.0, 2.0, 3.0]) is None
