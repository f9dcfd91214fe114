"""Over a socket: what is tried again, what never is, and that each request the server saw is an attempt here."""

from __future__ import annotations

from typing import Any

import pytest
from asking import ask
from scripted_server import Script
from stream_events import blk, error, reply, start, txt

from loadrig.words.record import Turn
from loadrig.words.settings import RetrySettings

THREE = RetrySettings(attempts=3)
OWN_LIMIT = "You have reached your specified API usage limits. You will regain access on 2026-12-01."


def refusal(status: int, kind: str, message: str = "no", code: str | None = None, *headers: bytes) -> Script:
    details = "" if code is None else f',"details":{{"error_code":"{code}"}}'
    body = f'{{"type":"error","error":{{"type":"{kind}","message":"{message}"{details}}}}}'.encode()
    lines = b"".join(header + b"\r\n" for header in headers)
    head = b"HTTP/1.1 %d No\r\ncontent-length: %d\r\n%b\r\n" % (status, len(body), lines)
    return Script([(0, body)], head=head, chunked=False)


def asked(*scripts: Script, retry: RetrySettings = THREE, **given: Any) -> tuple[Turn, int]:
    """The turn, and how many requests the server saw."""
    got, server = ask(*scripts, retry=retry, **given)
    assert len(server.requests) == len(got.turn.attempts)
    return got.turn, len(server.requests)


@pytest.mark.parametrize("script", [
    refusal(429, "rate_limit_error", code="enforced_spend_limit_reached"),
    refusal(429, "rate_limit_error", "no", "contract_spend_limit_reached", b"retry-after: 0.01"),
    refusal(400, "invalid_request_error", OWN_LIMIT),
    refusal(400, "invalid_request_error", OWN_LIMIT, None, b"x-should-retry: true"),
])  # fmt: skip
def test_a_spend_limit_is_asked_once(script: Script) -> None:
    """Three kinds of spend limit, retries on: one request, whatever the server wishes."""
    turn, requests = asked(script, Script([(0, reply())]))

    assert (turn.outcome, requests) == ("failed", 1)


def test_a_spend_limit_says_what_it_is() -> None:
    """The code stands in the detail with what it means."""
    turn, _ = asked(refusal(429, "rate_limit_error", "over", "enforced_spend_limit_reached"))

    assert turn.attempts[0].failure is not None
    assert turn.attempts[0].failure.detail == (
        "rate_limit_error: over (enforced_spend_limit_reached: a spend limit; waiting does not lift it)"
    )


def test_a_ramp_limit_is_explained_and_waited_for() -> None:
    """Two attempts, the pause as asked; the first one's detail says that the load rose too fast."""
    turn, requests = asked(
        refusal(429, "rate_limit_error", "slow down", "ramp_limit_exceeded", b"retry-after: 0.05"),
        Script([(0, reply())]),
    )

    first, second = turn.attempts
    assert first.failure is not None
    assert "ramp_limit_exceeded: the load rose faster than this account may raise it" in first.failure.detail
    assert (turn.outcome, requests, second.backoff_ns) == ("answered", 2, 50_000_000)
    assert second.begin_ns - first.end_ns >= 50_000_000


def test_the_servers_no_is_heeded() -> None:
    """A 529 with x-should-retry: false is asked once and says why."""
    turn, requests = asked(refusal(529, "overloaded_error", "busy", None, b"x-should-retry: false"))

    assert (requests, turn.notes) == (1, ("the server said not to try again (x-should-retry)",))


def test_the_servers_yes_is_heeded_within_our_number() -> None:
    """A 409 with x-should-retry: true, one further attempt allowed: two requests."""
    script = refusal(409, "conflict", "wait", None, b"x-should-retry: true", b"retry-after-ms: 10")

    assert asked(script, retry=RetrySettings(attempts=1))[1] == 2


def test_a_reply_that_had_begun_is_not_asked_for_again() -> None:
    """An overload told in the stream is that trial's failure, though 529 would have been tried again."""
    turn, requests = asked(Script([(0, start() + blk("text") + txt("Part") + error("overloaded_error"))]))

    assert (turn.reason, requests, turn.text) == ("overloaded", 1, "Part")


def test_the_ceiling_holds_for_every_wait() -> None:
    """With a ceiling of 0.02 s our own first pause of about half a second is 0.02 s."""
    turn, _ = asked(refusal(500, "api_error"), Script([(0, reply())]), retry=RetrySettings(attempts=1, ceiling_s=0.02))

    assert turn.attempts[1].backoff_ns == 20_000_000


def test_attempts_and_waits_are_apart() -> None:
    """Three attempts of one turn: each has its own times and failure, waits lie between them and in none of them."""
    busy = refusal(529, "overloaded_error", "busy", None, b"retry-after-ms: 30")
    turn, _ = asked(busy, busy, Script([(0, reply())]))

    assert [attempt.backoff_ns for attempt in turn.attempts] == [0, 30_000_000, 30_000_000]
    assert [attempt.failure is None for attempt in turn.attempts] == [False, False, True]
    ends, begins = [a.end_ns for a in turn.attempts[:2]], [a.begin_ns for a in turn.attempts[1:]]
    assert all(begin - end >= 30_000_000 for begin, end in zip(begins, ends, strict=True))
    assert turn.service_ns == turn.attempts[2].end_ns - turn.attempts[2].begin_ns
