"""A stage's instants on clocks that know nothing of one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loadrig.fleet.hours import Hours, Offset

ways = st.integers(0, 10**9)


def test_a_round_trip_gives_the_offset_and_its_bound() -> None:
    """Sent at 100, back at 140; heard at 1,110 and answered at 1,120 there: 995 ahead, wrong by 15 at most."""
    offset = Offset()
    offset.add(sent_ns=100, heard_ns=1110, answered_ns=1120, back_ns=140)
    assert (offset.ahead_ns, offset.error_ns, offset.round_trips) == (995, 15, 1)


@given(ahead=st.integers(-(10**15), 10**15), trips=st.lists(st.tuples(ways, ways, ways), min_size=1, max_size=9))
def test_the_true_offset_lies_within_the_bound(ahead: int, trips: list[tuple[int, int, int]]) -> None:
    """However long the ways there and back and the thinking between take; the quickest trip decides."""
    offset, at = Offset(), 0
    for there, thinking, back in trips:
        heard = at + there + ahead
        offset.add(sent_ns=at, heard_ns=heard, answered_ns=heard + thinking, back_ns=at + there + thinking + back)
        at += there + thinking + back + 1
    assert offset.error_ns == min(-(-(there + back) // 2) for there, _, back in trips)
    assert abs(offset.ahead_ns - ahead) <= offset.error_ns


def test_a_stage_begins_at_one_instant_for_all() -> None:
    """Begin 500 on the driver's clock is 1,500 on one that is 1,000 ahead and 400 on one that is 100 behind."""
    hours = Hours(500, 900, {"a": Offset(1000, 5), "b": Offset(-100, 5)})
    assert [hours.begin_of(worker) for worker in "ab"] == [1500, 400]
    assert [hours.end_of(worker) for worker in "ab"] == [1900, 800]
    assert (hours.is_over(899), hours.is_over(900)) == (False, True)


def test_a_closed_loop_tells_no_instants() -> None:
    """Without offsets there is no begin and no end for a worker, and nothing is known to be unsent."""
    hours = Hours(500, 900)
    assert (hours.begin_of("a"), hours.end_of("a"), hours.sent_until_ns("a", 700)) == (None, None, None)


def test_what_is_due_later_than_now_and_the_clocks_error_is_unsent() -> None:
    """200 after the begin, the clock known to 5: due at 206 is certainly unsent, due at 205 is not."""
    assert Hours(500, 900, {"a": Offset(1000, 5)}).sent_until_ns("a", 700) == 205
