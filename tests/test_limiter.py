"""The limits of a model: when requests go, with the time passed in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.limiter import Lane, Limiter
from loadrig.words.record import Usage
from loadrig.words.settings import ModelLimits

S = 1_000_000_000
MINUTE = 60 * S


def test_requests_go_a_second_apart_at_sixty_a_minute() -> None:
    """Four at once wait 0, 1, 2 and 3 s; one that comes after an hour waits not at all, and saved nothing up."""
    limiter = Limiter(ModelLimits(requests_per_minute=60))
    assert [limiter.permit(5 * S, 0).wait_ns for _ in range(4)] == [0, S, 2 * S, 3 * S]
    assert [limiter.permit(3600 * S, 0).wait_ns for _ in range(2)] == [0, S]


@given(
    st.lists(st.integers(0, 10 * S), min_size=1, max_size=60),
    st.lists(st.integers(1, 5000), min_size=60, max_size=60),
    st.integers(100, 100_000),
)
def test_no_minute_sees_more_than_the_limit_and_nothing_is_lost(gaps: list[int], costs: list[int], limit: int) -> None:
    """Any arrivals, any costs: each goes as soon as those before it are paid for, never sooner, in order."""
    lane, now, free = Lane(limit), 0, 0
    for gap, cost in zip(gaps, costs, strict=False):
        now += gap
        goes = now + lane.wait_ns(now)
        assert goes == pytest.approx(max(now, free), abs=len(gaps))
        lane.take(goes, cost)
        free = max(now, free) + cost * MINUTE // limit


@given(st.integers(1, 16), st.integers(60, 6000))
def test_the_shares_of_workers_keep_the_limit_together(workers: int, limit: int) -> None:
    """All workers at full demand for a minute: the limit, and at most one request more each."""
    sent = 0
    for _ in range(workers):
        limiter, at = Limiter(ModelLimits(requests_per_minute=limit), workers=workers), 0
        while (at := at + limiter.permit(at, 0).wait_ns) < MINUTE:
            sent += 1
    assert limit <= sent <= limit + workers


def test_tokens_are_reckoned_from_bytes_and_put_right_by_the_reply() -> None:
    """6,000 tokens a minute are 100 a second. 1,000 bytes are taken for 300 tokens: the next may go after 3 s. Their
    reply says 500: after 5 s; and from then on a byte is half a token, so the one behind it must wait 5 s more."""
    limiter = Limiter(ModelLimits(input_tokens_per_minute=6000))
    first = limiter.permit(0, 1000)
    limiter.settle(first, Usage(input=400, cache_write_5m=100, output=7))
    assert [limiter.permit(0, 1000).wait_ns for _ in range(2)] == [5 * S, 10 * S]


def test_what_was_read_from_a_cache_costs_nothing() -> None:
    """10 tokens of 1,000 bytes, the rest read: 0.1 s; and nothing is learnt from it about bytes."""
    limiter = Limiter(ModelLimits(input_tokens_per_minute=6000))
    limiter.settle(limiter.permit(0, 1000), Usage(input=10, cache_read=400))
    assert [limiter.permit(0, 1000).wait_ns for _ in range(2)] == [S // 10, S // 10 + 3 * S]


def test_a_reply_that_tells_nothing_leaves_what_was_taken() -> None:
    """Neither a refusal nor a broken stream gives tokens back."""
    limiter = Limiter(ModelLimits(input_tokens_per_minute=6000))
    first = limiter.permit(0, 1000)
    limiter.settle(first, None)
    limiter.settle(first, Usage())
    assert limiter.permit(0, 0).wait_ns == 3 * S


def test_the_stricter_of_two_limits_counts() -> None:
    """A request a second, 100 tokens a second: 1,000 bytes wait for their tokens, a byte for the second."""
    limiter = Limiter(ModelLimits(requests_per_minute=60, input_tokens_per_minute=6000))
    assert [limiter.permit(0, size).wait_ns for size in (1000, 1, 1)] == [0, 3 * S, 4 * S]


def test_without_limits_nothing_waits() -> None:
    """However many come."""
    limiter = Limiter(ModelLimits())
    assert {limiter.permit(0, 10**9).wait_ns for _ in range(1000)} == {0}
