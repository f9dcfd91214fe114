"""Means and quantiles over questions: repetitions are one cluster, draws have a seed."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadrig.statistics.clustered import Draws, mean, mean_difference, mean_ratio
from loadrig.statistics.quantiles import _Pool, quantile_difference
from loadrig.statistics.shift import shift
from loadrig.stats import quantile

FEW = Draws(bootstraps=200, permutations=199)
INF = math.inf


def same(value: float, n: int = 20, times: int = 1) -> dict[str, list[float]]:
    return {f"q{i}": [value] * times for i in range(n)}


def test_three_repetitions_are_one_question() -> None:
    """19 of 20 questions always right, three times: [.850, 1]; 60 answers taken for independent would be [.883, 1]."""
    cluster = mean({f"q{i}": [float(i != 0)] * 3 for i in range(20)})
    naive = mean({f"q{i}.{repetition}": [float(i != 0)] for i in range(20) for repetition in range(3)})
    assert cluster is not None
    assert naive is not None
    assert (cluster.n, cluster.value, cluster.low, cluster.high) == (20, 0.95, 0.85, 1)
    assert (naive.n, round(naive.low or 0, 3)) == (60, 0.883)


def test_answers_without_a_question_are_refused() -> None:
    """A plain list, and a number in place of a list of repetitions."""
    with pytest.raises(TypeError, match="keyed by question"):
        mean([1.0, 0.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="repetitions"):
        mean({"q1": 1.0})  # type: ignore[dict-item]


def test_a_question_asked_more_often_weighs_no_more() -> None:
    """Nine times 1 and once 3: the mean over questions is 2."""
    found = mean({"q1": [1.0] * 9, "q2": [3.0]})
    assert found is not None
    assert found.value == 2


def test_a_difference_is_over_the_questions_of_both() -> None:
    """q3 is in one only; 4 of each of 20 on one side, 6 on the other: 2, clear of 0."""
    found = mean_difference(same(4) | {"other": [99.0]}, same(6))
    assert found is not None
    assert (found.n, found.a, found.b, found.value, found.low, found.high) == (20, 4, 6, 2, 2, 2)
    assert found.excludes_zero
    assert found.p < 0.001


def test_one_question_shows_nothing() -> None:
    """Neither an interval nor a p below 1, however often it was asked."""
    for found in (
        mean_difference(same(4, 1, 9), same(6, 1, 9)),
        quantile_difference(same(4, 1, 9), same(6, 1, 9), 0.5),
    ):
        assert found is not None
        assert (found.value, found.low, found.high, found.p, found.excludes_zero) == (2, None, None, 1, False)


def test_a_ratio_has_an_interval() -> None:
    """A-104: full context against k = 5, 18,081 and 2,916 prompt tokens: 6.2 times, or 16.1 %."""
    found, other = mean_ratio(same(2916), same(18_081)), mean_ratio(same(18_081), same(2916))
    assert found is not None
    assert other is not None
    assert (round(found.value, 1), round(found.low or 0, 1), round(other.value, 3)) == (6.2, 6.2, 0.161)
    assert mean_ratio(same(0), same(1)) is None


def test_a_seed_gives_the_same_again_and_another_seed_does_not() -> None:
    """An interval is reproducible."""
    data = {f"q{i}": [float(i)] for i in range(20)}
    assert mean(data) == mean(data)
    assert mean(data) != mean(data, Draws(seed=8))


def test_slower_by_a_second_in_every_question_is_found() -> None:
    """1..40 s against 2..41 s: a shift of 1 s in 20 of 20 questions. The p95 differs by 1 s too, but rests on the
    slowest question alone: swapping its sides turns the sign, so that by itself it shows nothing."""
    a = {f"q{i}": [2.0 * i + 1, 2.0 * i + 2] for i in range(20)}
    b = {question: [value + 1 for value in values] for question, values in a.items()}
    found, p95 = shift(a, b), quantile_difference(a, b, 0.95)
    assert found is not None
    assert p95 is not None
    assert (found.a, found.b, found.value, found.low, found.high) == (20.5, 21.5, 1, 1, 1)
    assert found.p < 0.001
    assert (p95.a, p95.b, p95.value, p95.low, p95.high, p95.p) == (38, 39, 1, 1, 1, 1)


def test_a_p95_that_is_slower_in_every_question_is_found() -> None:
    """Every tenth of ten repetitions takes 9 s instead of 2 s: the p95 shows it, the shift of the medians does not."""
    a = {f"q{i}": [1.0] * 9 + [2.0 + i / 100] for i in range(20)}
    b = {question: [*values[:9], values[9] + 7] for question, values in a.items()}
    found, moved = quantile_difference(a, b, 0.95), shift(a, b)
    assert found is not None
    assert moved is not None
    assert found.excludes_zero
    assert found.p < 0.001
    assert (moved.value, moved.p) == (0, 1)


def test_a_failure_is_no_quick_answer() -> None:
    """Half of b fails: its p95 and the difference lie beyond every success, and clear of 0."""
    a = same(1, 20, 2)
    b = {question: [1.0, INF] for question in a}
    found, median = quantile_difference(a, b, 0.95), quantile_difference(a, b, 0.5)
    assert found is not None
    assert median is not None
    assert (found.a, found.b, found.value, found.low, found.high) == (1, INF, INF, INF, INF)
    assert found.excludes_zero
    assert (median.b, median.value) == (1, 0)


def test_failures_on_both_sides_do_not_differ() -> None:
    """Beyond against beyond is no difference."""
    for found in (quantile_difference(same(INF), same(INF), 0.5), shift(same(INF), same(INF))):
        assert found is not None
        assert (found.a, found.b, found.value, found.p, found.excludes_zero) == (INF, INF, 0, 1, False)


@given(
    st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), min_size=2, max_size=8),
    st.sampled_from([0.5, 0.95]),
)
@settings(max_examples=30)
def test_the_quantile_is_that_of_the_report(values: list[list[int]], q: float) -> None:
    """The same definition as in `loadrig.stats`, and a side compared with itself does not differ."""
    data = {f"q{i}": [float(value) for value in of] for i, of in enumerate(values)}
    found, reported = quantile_difference(data, data, q, FEW), quantile(sorted(chain.from_iterable(values)), q)
    assert found is not None
    assert reported is not None
    assert (found.a, found.b, found.value, found.p) == (reported.value_ns, reported.value_ns, 0, 1)


def test_resampled_quantiles_are_those_of_the_resampled_values() -> None:
    """Against numpy on one draw written out: questions 0, 0 and 2 of three."""
    a, b = [np.array(of) for of in ([5.0, 1.0], [9.0], [3.0])], [np.array(of) for of in ([2.0], [8.0], [4.0, 6.0])]
    low, high = _Pool(a, b, 0.5).drawn(np.array([[0, 0, 2]]))
    assert low[0] == np.quantile([5, 1, 5, 1, 3], 0.5, method="inverted_cdf") == 3
    assert high[0] == np.quantile([2, 2, 4, 6], 0.5, method="inverted_cdf") == 2
