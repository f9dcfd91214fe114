"""The run in 48 points and one line of text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadrig.live.trail import POINTS, Trail, sparkline

MS, S = 1_000_000, 1_000_000_000


def test_throughput_is_by_the_second() -> None:
    """Two trials in the first second, none in the second, one in the third: and one a second on the whole."""
    trail = Trail()
    for at_ms in (100, 900, 2400):
        trail.add((), at_ms * MS)
    assert trail.throughput(3 * S) == [2, 0, 1]
    assert trail.pace(3 * S) == 1


def test_the_pace_is_of_the_last_ten_seconds() -> None:
    """Sixty trials in the first second are none of what goes on at second 12; one a second since then is."""
    trail = Trail()
    for at_ns in [0] * 60 + [second * S for second in range(1, 12)]:
        trail.add((), at_ns)
    assert (trail.pace(12 * S), max(trail.throughput(12 * S))) == (1, 60)


def test_a_point_that_is_not_over_is_left_out() -> None:
    """At 2.7 s the point from 2 s on would seem a fall; the first one is all there is, and counts for its whole."""
    trail = Trail()
    trail.add((), 100 * MS)
    assert trail.throughput(400 * MS) == [1]
    assert trail.throughput(2_700 * MS) == [1, 0]


def test_first_token_times_have_holes() -> None:
    """Where no turn had a first token there is none, not 0."""
    trail = Trail()
    trail.add((64 * MS,), 100 * MS)
    trail.add((), 1_600 * MS)
    found = trail.ttft_p95(1_700 * MS)
    assert found[1:] == [None]
    assert abs((found[0] or 0) - 64 * MS) < MS / 10


@given(st.lists(st.integers(0, 3_600 * S), min_size=1, max_size=100))
def test_a_long_run_loses_no_trial(at_ns: list[int]) -> None:
    """Whenever trials ended within an hour, all are in at most 48 points of one length."""
    trail = Trail()
    for one_ns in at_ns:
        trail.add((MS,), one_ns)
    end_ns = max(at_ns) + 200 * S
    points = trail.throughput(end_ns)
    assert len(points) < POINTS
    assert round(sum(points) * trail._each_ns / S) == len(at_ns)


def test_heights_are_shares_of_the_largest() -> None:
    """Zero is the lowest, the largest the highest, nothing a blank; without a largest all are low."""
    assert sparkline([0, 1, 2, None, 4, 7]) == "▁▂▃ ▅█"
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([1, 7], ".:-=+*#@") == ":@"
    assert sparkline([]) == ""
