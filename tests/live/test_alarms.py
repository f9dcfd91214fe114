"""What is worth a word at once: each thing, once."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from records import S, attempt, record, turn

from loadrig.live.ahead import Ahead
from loadrig.live.alarms import Alarms
from loadrig.words.record import Attempt, Failure, Record, Usage
from loadrig.words.trial import Pulse

AHEAD = Ahead(
    frozenset({("rag", "m", "measured")}), (), is_steered=False, currency="USD", caching=frozenset({("full", "m")}),
    money=Decimal("1.00"), tokens=1000,
)  # fmt: skip


def said(*records: Record) -> list[str]:
    """All that is said of some records, in their order."""
    alarms = Alarms()
    alarms.expect(AHEAD)
    return [sentence for one in records for sentence in alarms.record(one, 0)]


def tried(reason: str, status: int | None = None, **given: Any) -> Record:
    """A trial whose first attempt was turned away, and whose second was not."""
    away: Attempt = attempt(http_status=status, failure=Failure(reason, "[red]busy", http_status=status))
    return record("t1", turns=(turn(attempts=(away, attempt())),), **given)


def test_a_target_that_throttles_is_told_of_once_each_way() -> None:
    """Two 429 and a 529 of one model are two sentences; a timeout is none of them."""
    assert said(tried("rate_limited", 429), tried("rate_limited", 429), tried("overloaded", 529), tried("timeout")) == [
        "m throttles with 429: rate_limited", "m throttles with 529: overloaded",
    ]  # fmt: skip
    assert said(tried("overloaded", 200)) == ["m throttles in its stream: overloaded"]


def test_waiting_before_attempts_is_told_of_once() -> None:
    """The first trial that waited says how long; the second says nothing new."""
    told = "trials wait before asking m, for a retry or for leave under its limits: one 2.0 s"
    assert said(record("a", backoff_ns=2 * S), record("b", backoff_ns=3 * S)) == [told]


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ({}, True),
        ({"arm": "rag"}, False),  # does not ask for a cache
        ({"model": "n"}, False),  # cannot be asked for one
        ({"phase": "warmup"}, False),
        ({"usage": Usage(input=9, cache_read=90)}, False),
        ({"usage": Usage(input=90, cache_read=None)}, False),  # not told is not nothing
        ({"usage": Usage(input=90, cache_read=0, exact=False)}, False),
    ],
)
def test_a_cache_that_was_asked_for_and_not_read(given: dict[str, Any], is_told: bool) -> None:
    """A measured trial of a caching arm that read 0 of its tokens from the cache, by the provider's own count."""
    told = "full asks for a cache, and a trial on m read none of its 90 prompt tokens from it"
    one = record("t1", **{"arm": "full", "usage": Usage(input=80, cache_write_5m=10, cache_read=0), **given})
    assert said(one, one) == ([told] if is_told else [])


def test_a_limit_is_near_below_a_tenth() -> None:
    """Of 1,000 requests a minute 100 are no alarm, 99 are."""

    def left(remaining: int, at: str) -> Record:
        told = (
            ("anthropic-ratelimit-requests-limit", "1000"),
            ("anthropic-ratelimit-requests-remaining", f"{remaining}"),
        )
        return record("t1", turns=(turn(attempts=(attempt(rate_limit=told, began_at=at),)),))

    assert said(left(100, "1"), left(99, "2"), left(98, "3")) == ["m has 99 of 1,000 requests a minute left"]


def test_a_budget_is_near_and_then_passed() -> None:
    """0.79 of 1.00 is no alarm, 0.80 is, once; the first trial that is not sent for it is another."""
    found = said(
        record("a", cost="0.79"), record("b", cost="0.01"), record("c", cost="0.1"),
        record("d", outcome="not_run", reason="budget", cost=None),
    )  # fmt: skip
    assert found == [
        "0.8000 of the budget of 1.00 USD is spent", "the budget has no room for what is left: it is not sent",
    ]  # fmt: skip
    assert said(record("a", usage=Usage(input=700, output=99)), record("b", usage=Usage(output=1))) == [
        "800 of the budget of 1,000 tokens are spent"
    ]


def test_a_client_bound_stage_is_told_of_with_its_causes() -> None:
    """Once a stage, when it has been bound for two seconds on end; what is not checked is no alarm."""
    alarms = Alarms()
    told = []
    for at_s, bound in enumerate((None, True, True, False, True, True, True, True)):
        why = ("worker w1: loop lag",) if bound else ()
        found = alarms.pulse(Pulse("c8", 8, 8, 2, 0, 0.9, client_bound=bound, bound_by=why), at_s * S)
        told += [(at_s, sentence) for sentence in found]
    assert told == [(6, "stage c8 is client-bound, its latencies are partly the rig's: worker w1: loop lag")]
