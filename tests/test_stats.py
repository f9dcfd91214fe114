"""Exact quantiles and shares, against values worked out by hand and published vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import quantile_test

from loadrig.stats import Quantile, quantile, rank, wilson

S = 1_000_000_000


def test_a_quantile_is_the_smallest_value_with_enough_at_or_below() -> None:
    """Of 1..20 the p50 is 10, the p95 19 and the p99 20."""
    found = [quantile(range(1, 21), q) for q in (0.5, 0.95, 0.99)]
    assert [q.value_ns for q in found if q] == [10, 19, 20]


def test_rank_takes_q_as_written() -> None:
    """0.07 x 100 is 7, not the 8 that binary arithmetic gives."""
    assert rank(0.07, 100) == 7


def test_the_interval_is_that_of_order_statistics() -> None:
    """Of 1..100 the median's 95 % interval runs from the 40th to the 61st value."""
    found = quantile(range(1, 101), 0.5)
    assert found == Quantile(50, 100, 100, 40, 61, few=False)


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=60), st.sampled_from([0.5, 0.95, 0.99]))
def test_the_interval_agrees_with_scipy(values: list[int], q: float) -> None:
    """`scipy.stats.quantile_test` gives the same interval, an open end being nan there and None here."""
    values.sort()
    found = quantile(values, q)
    other = quantile_test(np.array(values), q=0, p=q).confidence_interval(0.95)
    expected = [None if np.isnan(end) else int(end) for end in (other.low, other.high)]
    assert found is not None
    assert [found.low_ns, found.high_ns] == expected


def test_p95_of_five_is_the_largest_and_marked() -> None:
    """H6: n = 5, the value is the maximum, few, with no upper bound."""
    found = quantile([1, 2, 3, 4, 5], 0.95)
    assert found is not None
    assert (found.value_ns, found.n, found.few, found.high_ns) == (5, 5, True, None)


def test_fewer_than_five_beyond_is_few() -> None:
    """The median of 10 has five values beyond it; that of 9 has four, and is marked."""
    ten, nine = quantile(range(10), 0.5), quantile(range(9), 0.5)
    assert ten is not None
    assert nine is not None
    assert (ten.few, nine.few) == (False, True)


def test_an_empty_sample_has_no_quantile() -> None:
    """H5: nothing measured is not available, not 0."""
    assert quantile([], 0.5) is None


def test_failures_rank_beyond_every_success() -> None:
    """D3: 6 of 1 s and 4 that hit 30 s: p95 of successes 1 s; with failures p50 1 s, p95 over 30 s."""
    values, ages = [S] * 6, [30 * S] * 4
    alone, p50, p95 = quantile(values, 0.95), quantile(values, 0.5, beyond=ages), quantile(values, 0.95, beyond=ages)
    assert alone is not None
    assert p50 is not None
    assert p95 is not None
    assert (alone.value_ns, alone.n) == (S, 6)
    assert (p50.value_ns, p50.beyond_ns) == (S, None)
    assert (p95.value_ns, p95.beyond_ns, p95.n, p95.ok) == (None, 30 * S, 10, 6)


def test_quick_failures_do_not_flatter() -> None:
    """D4: 5 refused in 2 ms and 5 answered in 1 s: median 1 s either way, p95 over 1 s."""
    p50, p95 = (quantile([S] * 5, q, beyond=[2_000_000] * 5) for q in (0.5, 0.95))
    assert p50 is not None
    assert p95 is not None
    assert (p50.value_ns, p95.value_ns, p95.beyond_ns) == (S, None, S)


def test_all_failed_has_no_value() -> None:
    """D10: 20 of 20 time out: the p50 is over 30 s, and there is no success quantile."""
    found = quantile([], 0.5, beyond=[30 * S] * 20)
    assert found is not None
    assert (found.value_ns, found.beyond_ns, found.ok) == (None, 30 * S, 0)


def test_one_failure_alone_has_its_own_time_as_bound() -> None:
    """A single trial that failed after 30 s: over 30 s."""
    found = quantile([], 0.5, beyond=[30 * S])
    assert found is not None
    assert (found.value_ns, found.beyond_ns, found.n, found.ok) == (None, 30 * S, 1, 0)


@given(st.lists(st.integers(0, 10**9), min_size=1), st.floats(0.01, 1))
def test_no_quantile_is_above_the_maximum(values: list[int], q: float) -> None:
    """H4: a quantile is a value of the sample, inside its interval."""
    found = quantile(sorted(values), round(q, 3))
    assert found is not None
    assert found.value_ns in values
    assert (found.low_ns or 0) <= found.value_ns <= (found.high_ns or max(values))


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (19, 20, 0.7639, 0.9911),
        (20, 20, 0.8389, 1),
        (18, 20, 0.6990, 0.9721),
        (17, 20, 0.6396, 0.9476),
        (7, 7, 0.6457, 1),
        (0, 20, 0, 0.1611),
        (35, 35, 0.9011, 1),
        (14, 78, 0.1100, 0.2790),
        (1, 120, 0.0015, 0.0457),
        (2, 10_000, 0.0001, 0.0007),
        (0, 6, 0, 0.3903),
        (9, 9, 0.7009, 1),
        (340, 340, 0.9888, 1),
        (0, 120, 0, 0.0310),
    ],
)
def test_wilson(k: int, n: int, low: float, high: float) -> None:
    """Published intervals, to the fourth decimal."""
    share = wilson(k, n)
    assert share is not None
    assert (round(share.low, 4), round(share.high, 4)) == (low, high)


def test_wilson_of_nothing_is_none() -> None:
    """No trial, no share."""
    assert wilson(0, 0) is None
