"""The retry policy as a pure rule: who is tried again, and when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from loadrig.providers import ApiError
from loadrig.wire.retry import Pause, Wish, asked_seconds, backoff_s, pause_before_next, wish_of
from loadrig.words.record import Failure
from loadrig.words.settings import RetrySettings

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "900"}, 900.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:10 GMT"}, 10.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:10 -0000"}, 10.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:00 GMT"}, None),
        ({"retry-after": "Sun, 01 Mar 2026 09:00:10 GMT", "date": "Sun, 01 Mar 2026 09:00:00 GMT"}, 10.0),
        ({"retry-after": "Sun, 01 Mar 2026 15:00:10 GMT", "date": "Sun, 01 Mar 2026 15:00:00 GMT"}, 10.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:10 GMT", "date": "noon"}, 10.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "3"}, 3.0),
    ],
)
def test_d7_what_the_server_asked_for(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds and dates are understood, dates by the clock of the server, be ours three hours fast or slow; nonsense,
    the past and nothing are our own affair."""
    assert asked_seconds(headers, NOW) == seconds


THREE_SECONDS = Wish(after_s=3.0)


def pause(
    reason: str, *, attempt: int = 1, wish: Wish = THREE_SECONDS, error: ApiError | None = None,
    status: int | None = None,
) -> Pause:  # fmt: skip
    policy = RetrySettings(attempts=2, ceiling_s=60.0)
    failure = Failure(reason, "", http_status=status)
    return pause_before_next(failure, error, wish=wish, label="t.1.1", attempt=attempt, policy=policy)


@pytest.mark.parametrize("reason", ["connect", "rate_limited", "overloaded", "http_5xx"])
def test_these_are_tried_again_not_earlier_than_asked(reason: str) -> None:
    """Three seconds asked are three seconds waited."""
    assert pause(reason) == Pause(3_000_000_000)


@pytest.mark.parametrize(
    "reason", ["tls", "timeout", "http_4xx", "stream_error", "incomplete", "protocol", "cancelled"]
)
def test_these_are_not(reason: str) -> None:
    """What began to answer, or will answer the same again, is left as it is."""
    assert pause(reason) == Pause(None)


def test_attempts_are_further_ones() -> None:
    """With two allowed, the third attempt is the last."""
    assert [pause("overloaded", attempt=number).ns is None for number in (1, 2, 3)] == [False, False, True]


def test_a_spend_limit_is_never_tried_again() -> None:
    """Waiting does not lift it."""
    error = ApiError("rate_limit_error", "", rate_limited=True, spend_limit=True)

    assert pause("rate_limited", error=error) == Pause(None, "a spend limit: not tried again")


def test_a_spend_limit_of_ones_own_is_not_tried_again_though_the_server_says_so() -> None:
    """It comes as a 400; even x-should-retry does not move us."""
    error = ApiError("invalid_request_error", "", spend_limit=True)

    assert pause("http_4xx", error=error, wish=Wish(again=True), status=400).ns is None


@pytest.mark.parametrize("reason", ["overloaded", "rate_limited"])
def test_a_reply_that_had_begun_is_not_tried_again(reason: str) -> None:
    """An error in the stream after status 200: what came of it is kept and paid, and shown as what it is."""
    assert pause(reason, status=200) == Pause(None)


def test_the_server_may_say_no() -> None:
    """x-should-retry: false on a 529 ends it, and the record says why."""
    found = pause("overloaded", wish=Wish(again=False), status=529)

    assert found == Pause(None, "the server said not to try again (x-should-retry)")


def test_the_server_may_say_yes() -> None:
    """x-should-retry: true on a 400 brings another attempt, within the number allowed."""
    found = [pause("http_4xx", wish=Wish(again=True, after_s=1), status=400, attempt=number).ns for number in (2, 3)]

    assert found == [1_000_000_000, None]


def test_a_yes_does_not_bring_back_what_is_no_refusal() -> None:
    """A timeout, a redirect and a page instead of a stream are left as they are."""
    statuses = {"timeout": None, "protocol": 302, "incomplete": 200}
    assert {pause(reason, wish=Wish(again=True), status=status).ns for reason, status in statuses.items()} == {None}


@pytest.mark.parametrize(("text", "again"), [("true", True), ("False", False), ("maybe", None), ("", None)])
def test_what_the_server_wishes(text: str, again: bool | None) -> None:
    """true and false in any case; anything else says nothing."""
    assert wish_of({"x-should-retry": text, "retry-after": "2"}, NOW) == Wish(again, 2.0)


def test_over_the_ceiling_nothing_is_waited_for() -> None:
    """The reason is kept for the record."""
    assert pause("rate_limited", wish=Wish(after_s=61)) == Pause(None, "retry-after 61 s is over the ceiling of 60 s")


@pytest.mark.parametrize(("attempt", "most_s"), [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (50, 8.0)])
def test_our_own_back_off_doubles_up_to_eight_seconds(attempt: int, most_s: float) -> None:
    """Less up to a quarter of jitter."""
    waits = [backoff_s(attempt, f"t{number}.1.1") for number in range(200)]

    assert most_s * 0.75 <= min(waits) < most_s * 0.78
    assert most_s * 0.97 < max(waits) <= most_s


def test_jitter_is_the_same_in_a_rerun() -> None:
    """It depends on the attempt's label alone."""
    assert backoff_s(1, "t.1.1") == backoff_s(1, "t.1.1") != backoff_s(1, "t.1.2")
