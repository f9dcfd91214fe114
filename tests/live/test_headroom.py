"""What is left of rate limits, from reply headers of two families."""

from __future__ import annotations

import pytest
from records import MS, S, attempt, record, turn

from loadrig.live.headroom import Headroom, Left, told
from loadrig.words.record import Record


def asked(*limits: tuple[str, str], began_at: str = "2026-11-20T12:00:00Z", model: str = "m1") -> Record:
    """A trial whose one reply had these headers."""
    return record("t1", model=model, turns=(turn(attempts=(attempt(rate_limit=limits, began_at=began_at),)),))


def left(remaining: int) -> tuple[str, str]:
    return ("anthropic-ratelimit-requests-remaining", str(remaining))


def test_both_families_of_headers_are_read() -> None:
    """Each names side and kind in its own order; resets, retry-after and unknown kinds are not asked."""
    assert told([
        ("anthropic-ratelimit-requests-limit", "1000"), ("anthropic-ratelimit-requests-remaining", "990"),
        ("anthropic-ratelimit-input-tokens-remaining", "1999000"), ("anthropic-ratelimit-requests-reset", "2026"),
        ("retry-after", "3"), ("anthropic-ratelimit-images-limit", "7"),
    ]) == {"requests": Left(1000, 990), "input_tokens": Left(None, 1_999_000)}  # fmt: skip
    assert told([
        ("x-ratelimit-limit-tokens", "30000"), ("x-ratelimit-remaining-tokens", "0"),
        ("x-ratelimit-remaining-requests", "59"), ("x-ratelimit-reset-tokens", "6m0s"),
    ]) == {"tokens": Left(30_000, 0), "requests": Left(None, 59)}  # fmt: skip


@pytest.mark.parametrize("value", ["", "many", "-1", "1.5", "9" * 16, "1,000"])
def test_what_is_no_whole_number_tells_nothing(value: str) -> None:
    """A header with another value is left out, not taken for 0."""
    assert told([("x-ratelimit-remaining-requests", value)]) == {}


def test_the_newest_reply_counts() -> None:
    """A long trial that ends late brings an old reading: the one whose attempt began last stays, each model its own."""
    headroom = Headroom()
    headroom.record(asked(left(40), began_at="2026-11-20T12:00:09Z"), 9 * S)
    headroom.record(asked(left(90), began_at="2026-11-20T12:00:01Z"), 10 * S)
    headroom.record(asked(left(7), model="m2"), 10 * S)
    assert {lane: found.remaining for lane, found in headroom.left(11 * S).items()} == {
        ("m1", "requests"): 40, ("m2", "requests"): 7,
    }  # fmt: skip


def test_a_reading_is_gone_after_a_minute() -> None:
    """What was left a minute ago has been filled up since: nothing is told any more."""
    headroom = Headroom()
    headroom.record(asked(left(40)), 0)
    assert [len(headroom.left(at_ns)) for at_ns in (60 * S - MS, 60 * S)] == [1, 0]


def test_a_reply_without_such_headers_changes_nothing() -> None:
    """The last reading that told something stays."""
    headroom = Headroom()
    headroom.record(asked(left(40)), 0)
    headroom.record(asked(("retry-after", "1"), began_at="2026-11-20T12:00:05Z"), S)
    assert headroom.left(S) == {("m1", "requests"): Left(None, 40)}
