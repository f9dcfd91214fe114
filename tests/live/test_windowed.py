"""Gauges of the last ten seconds: worked out when somebody looks, gone with what they were of."""

from __future__ import annotations

import pytest
from hand_clock import HandClock
from prometheus_client import generate_latest
from records import MS, S, attempt, failed, record, turn

from loadrig.live.metrics import Metrics
from loadrig.words.trial import Pulse

LANE = {"arm": "rag", "model": "m"}


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"loadrig_{name}", labels)


def twenty(metrics: Metrics) -> None:
    """Trials of 1 to 20 s, whose first tokens came after 10 to 200 ms."""
    for number in range(1, 21):
        metrics.record(record(str(number), service_ns=number * S, turns=(turn(ttft_ns=10 * number * MS),)))


def test_the_last_ten_seconds_by_arm() -> None:
    """Of 1 to 20 s the median is 10 s and the 95th percentile 19 s, of 20 trials; of first tokens 0.1 and 0.19 s."""
    metrics = Metrics(HandClock())
    twenty(metrics)
    expected = {
        "trial_duration_p50_10s_seconds": 10, "trial_duration_p95_10s_seconds": 19, "trial_duration_samples_10s": 20,
        "time_to_first_token_p50_10s_seconds": 0.1, "time_to_first_token_p95_10s_seconds": 0.19,
        "time_to_first_token_samples_10s": 20,
    }  # fmt: skip
    assert {name: value(metrics, name, **LANE) for name in expected} == pytest.approx(expected, rel=1e-3)


def test_a_dead_arm_leaves_no_frozen_value() -> None:
    """Ten seconds after its last trial an arm has no series, while another that goes on has its own."""
    clock = HandClock()
    metrics = Metrics(clock)
    twenty(metrics)
    clock.ns = 10 * S
    metrics.record(record("x", arm="control"))
    assert value(metrics, "trial_duration_p95_10s_seconds", **LANE) is None
    assert value(metrics, "trial_duration_p95_10s_seconds", arm="control", model="m") is not None
    assert b'_10s_seconds{arm="rag"' not in generate_latest(metrics.registry)


def test_failures_are_in_no_window() -> None:
    """A trial that timed out after 30 s is no sample of 30 s."""
    metrics = Metrics(HandClock())
    metrics.record(failed("t1"))
    assert value(metrics, "trial_duration_samples_10s", **LANE) is None


def test_what_is_left_of_a_rate_limit() -> None:
    """A reply that told of 990 requests left of 1,000 shows both, by model and kind, for a minute."""
    clock = HandClock()
    metrics = Metrics(clock)
    told = (("anthropic-ratelimit-requests-limit", "1000"), ("anthropic-ratelimit-requests-remaining", "990"))
    metrics.record(record("t1", turns=(turn(attempts=(attempt(rate_limit=told),)),)))
    kind = {"model": "m", "kind": "requests"}
    assert [value(metrics, f"rate_limit_{side}", **kind) for side in ("allowed", "remaining")] == [1000, 990]
    clock.ns = 60 * S
    assert value(metrics, "rate_limit_remaining", **kind) is None


def test_nothing_is_recent_when_the_run_has_ended() -> None:
    """The final state, which a gateway keeps, has no window and nothing in flight; what was unknown is no number."""
    metrics = Metrics(HandClock())
    twenty(metrics)
    metrics.pulse(Pulse("c2", 2, 2, 1, 9 * MS, 0.3, client_bound=True))
    metrics.finished()
    text = generate_latest(metrics.registry).decode()
    assert "_10s_seconds{" not in text
    for line in ("trials_in_flight 0.0", "event_loop_lag_seconds NaN", "client_bound NaN"):
        assert f"\nloadrig_{line}\n" in text
