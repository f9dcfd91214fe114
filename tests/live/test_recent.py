"""Spreads and windows: within a thousandth of the nearest-rank value, of the last ten seconds, in bounded memory."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from loadrig.live.recent import Peak, Percentiles, Recent, Spread

MS, S = 1_000_000, 1_000_000_000
DURATIONS = st.lists(st.integers(0, 3_600 * S), min_size=1, max_size=60)


def spread_of(values: list[int]) -> Spread:
    spread = Spread()
    for value in values:
        spread.add(value)
    return spread


@given(DURATIONS, st.sampled_from([0.01, 0.5, 0.95, 1.0]))
def test_a_quantile_is_within_a_thousandth(values: list[int], share: float) -> None:
    """Of any values, the one at the nearest rank is at most 0.1 % away."""
    expected = sorted(values)[math.ceil(round(share * len(values), 9)) - 1]
    (found,) = spread_of(values).quantiles(share)
    assert found is not None
    assert abs(found - expected) <= expected / 1000


@given(DURATIONS, DURATIONS)
def test_merging_is_adding_all(left: list[int], right: list[int]) -> None:
    """Two spreads merged, either way round, answer as one that was given both."""
    whole, there, back = spread_of(left + right), spread_of(left), spread_of(right)
    there.merge(spread_of(right))
    back.merge(spread_of(left))
    assert there.percentiles() == back.percentiles() == whole.percentiles()
    assert there.total == sum(left) + sum(right)


def test_percentiles_carry_their_n() -> None:
    """Of 1 to 20 the median is 10 and the 95th percentile 19, of 20 values; of none both are null."""
    assert spread_of(list(range(1, 21))).percentiles() == Percentiles(10, 19, 20)
    assert Spread().percentiles() == Percentiles(None, None, 0)


def test_memory_is_bounded() -> None:
    """100,000 values between 0.1 and 0.2 s, all different, are kept as 513 counts at most."""
    spread = spread_of([100 * MS + 1000 * number for number in range(100_000)])
    assert (spread.count, len(spread._counts) <= 2 * 512) == (100_000, True)


def test_ten_seconds_are_recent() -> None:
    """A value of second 0 counts at 9.4 s and not at 10 s, and nothing is left when nothing comes."""
    recent = Recent()
    recent.add(5 * MS, 0)
    recent.add(7 * MS, 9 * S)
    assert [recent.spread(at_ns).count for at_ns in (9 * S, 9_400 * MS, 10 * S, 18 * S, 19 * S)] == [2, 2, 1, 1, 0]


def test_a_window_is_twenty_slots_however_much_comes() -> None:
    """A value every 10 ms for a minute leaves twenty spreads."""
    recent = Recent()
    for number in range(6000):
        recent.add(MS, number * 10 * MS)
    assert len(recent._slots) == 20
    assert recent.spread(60 * S).count == 950  # slots from 50.5 to 60 s


def test_the_peak_of_ten_seconds() -> None:
    """80 at second 0 is the largest until second 10; before anything came there is none."""
    peak = Peak()
    assert peak.largest(0) is None
    for at_s, value in ((0, 80), (0, 3), (9, 2), (10, 1)):
        peak.add(value, at_s * S)
        assert peak.largest(at_s * S) == (80 if at_s < 10 else 2)
