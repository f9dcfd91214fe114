"""The retry policy as a pure rule: who is tried again, and when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from loadrig.providers import ApiError
from loadrig.wire.retry import Pause, asked_seconds, backoff_s, pause_before_next
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
    """Seconds and dates are understood; nonsense, the past and nothing are our own affair."""
    assert asked_seconds(headers, NOW) == seconds


def pause(reason: str, *, attempt: int = 1, asked_s: float | None = 3.0, error: ApiError | None = None) -> Pause:
    policy = RetrySettings(attempts=2, ceiling_s=60.0)
    return pause_before_next(Failure(reason, ""), error, asked_s=asked_s, label="t.1.1", attempt=attempt, policy=policy)


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


def test_over_the_ceiling_nothing_is_waited_for() -> None:
    """The reason is kept for the record."""
    assert pause("rate_limited", asked_s=61) == Pause(None, "retry-after 61 s is over the ceiling of 60 s")


@pytest.mark.parametrize(("attempt", "most_s"), [(1, 0.5), (2, 1.0), (3, 2.0), (5, 8.0), (50, 8.0)])
def test_our_own_back_off_doubles_up_to_eight_seconds(attempt: int, most_s: float) -> None:
    """Less up to a quarter of jitter."""
    waits = [backoff_s(attempt, f"t{number}.1.1") for number in range(200)]

    assert most_s * 0.75 <= min(waits) < most_s * 0.78
    assert most_s * 0.97 < max(waits) <= most_s


def test_jitter_is_the_same_in_a_rerun() -> None:
    """It depends on the attempt's label alone."""
    assert backoff_s(1, "t.1.1") == backoff_s(1, "t.1.1") != backoff_s(1, "t.1.2")
