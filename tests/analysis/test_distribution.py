"""Distributions thinned for a picture: exact values at their ranks, failures beyond every success."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from records import MS, failed, record

from loadrig.analysis.distribution import distribution, thinned


def test_points_are_the_successes_with_their_ranks() -> None:
    """Three successes and a failure: ranks 1 to 3 of 4 trials."""
    trials = [record(name, service_ns=ms * MS) for name, ms in (("a", 30), ("b", 10), ("c", 20))]
    of = distribution([*trials, failed("f")], "service")
    assert (of.ok, of.n, of.points) == (3, 4, ((10 * MS, 1), (20 * MS, 2), (30 * MS, 3)))


def test_the_box_has_exact_quantiles_of_the_successes() -> None:
    """Of 1 to 100 ms: the 5th, 25th, 50th, 75th and 95th."""
    of = distribution([record(f"t{ms}", service_ns=ms * MS) for ms in range(1, 101)], "service")
    assert of.box == (5 * MS, 25 * MS, 50 * MS, 75 * MS, 95 * MS)


def test_nothing_that_succeeded_has_neither_points_nor_a_box() -> None:
    """All failed: no value is made up."""
    of = distribution([failed("f")], "service")
    assert (of.ok, of.n, of.points, of.box) == (0, 1, (), ())


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300), st.integers(2, 60))
def test_thinning_keeps_the_ends_and_true_values(values: list[int], most: int) -> None:
    """At most so many points, each a value at its own rank, rising, the smallest and the largest among them."""
    values.sort()
    found = thinned(values, most)
    assert len(found) <= most
    assert all(values[place - 1] == value for value, place in found)
    assert [place for _, place in found] == sorted({place for _, place in found})
    assert (found[0][1], found[-1][1]) == (1, len(values))
