"""Metrics: each record counted once, under small labels, in buckets that reach 300 s."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import records
from hand_clock import HandClock
from prometheus_client import generate_latest
from records import S, turn

from loadrig.live.ahead import Ahead, StageAhead
from loadrig.live.metrics import SECONDS, SHORT_SECONDS, Metrics, code_of
from loadrig.words.record import Attempt, Failure, Record, ToolCall, Usage
from loadrig.words.trial import Pulse, RunInfo

PLACE = {"arm": "rag-bm25-k5", "model": "m1", "stage": "c8", "phase": "measured"}


def a_record(trial: str = "t1", **given: Any) -> Record:
    """An answered trial of 2 s; what matters to a test is given by it."""
    return records.record(trial, **{"service_ns": 2 * S, **PLACE, **given})


def an_attempt(status: int | None, reason: str | None = None) -> Attempt:
    failure = None if reason is None else Failure(reason, "as the target said")
    return records.attempt(http_status=status, failure=failure)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"loadrig_{name}", labels)


def test_a_record_is_counted_once_under_its_outcome() -> None:
    """Two answered trials and one that timed out are 2 and 1, under arm, model, stage, phase, outcome and reason."""
    metrics = Metrics()
    for record in (a_record(), a_record("t2"), a_record("t3", outcome="failed", reason="timeout")):
        metrics.record(record)
    assert value(metrics, "trials_total", **PLACE, outcome="answered", reason="") == 2
    assert value(metrics, "trials_total", **PLACE, outcome="failed", reason="timeout") == 1


def test_planned_trials_are_known_from_the_start() -> None:
    """A run of 40 trials shows 40 planned, and its id in the info series only."""
    metrics = Metrics()
    metrics.started(RunInfo(run="r1", plan="quick", version="0.1.0", planned=40, currency="USD", simulated=True))
    assert value(metrics, "trials_planned_total") == 40
    assert value(metrics, "run_info", run="r1", plan="quick", version="0.1.0", simulated="true") == 1
    assert generate_latest(metrics.registry).count(b'"r1"') == 1


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        (200, None, "200"),
        (429, "rate_limited", "429"),
        (200, "stream_error", "stream_error"),
        (None, "connect", "connect"),
        (None, None, "none"),
    ],
)
def test_the_code_of_an_attempt(status: int | None, reason: str | None, code: str) -> None:
    """A bad status names itself; a failure without one is named by its reason."""
    assert code_of(an_attempt(status, reason)) == code


def test_attempts_are_counted_by_code() -> None:
    """A turn that met 529 and then 200 is two attempts, one of each code, and its wait is kept by model."""
    metrics = Metrics()
    tried = turn(attempts=(an_attempt(529, "overloaded"), an_attempt(200)))
    metrics.record(a_record(turns=(tried,), backoff_ns=3 * S))
    assert value(metrics, "attempts_total", **PLACE, code="529") == 1
    assert value(metrics, "attempts_total", **PLACE, code="200") == 1
    assert value(metrics, "backoff_seconds_total", model="m1") == 3


def test_first_token_is_timed_by_turn_and_the_rest_by_trial() -> None:
    """Two turns of 0.2 s and 0.4 s to first token are two samples; the trial that held them is one of 2 s."""
    metrics = Metrics()
    turns = (turn(ttft_ns=200_000_000), turn(ttft_ns=400_000_000, tpot_ns=10_000_000))
    metrics.record(a_record(turns=turns, ttfat_ns=S, retrieval_ns=5_000_000, tool_ns=2_000_000))
    assert value(metrics, "time_to_first_token_seconds_count", **PLACE) == 2
    assert value(metrics, "time_to_first_token_seconds_sum", **PLACE) == pytest.approx(0.6)
    assert value(metrics, "time_to_first_answer_token_seconds_sum", **PLACE) == 1
    assert value(metrics, "trial_duration_seconds_sum", **PLACE) == 2
    assert value(metrics, "time_per_output_token_seconds_sum", **PLACE) == 0.01
    assert value(metrics, "retrieval_seconds_sum", **PLACE) == 0.005
    assert value(metrics, "tool_seconds_sum", **PLACE) == 0.002
    assert value(metrics, "turns_per_trial_sum", **PLACE) == 2


def test_scheduled_latency_is_of_open_loop_alone() -> None:
    """Due 3 s before its end: 3 s; a trial without a due time is no sample, and neither is a failure."""
    metrics = Metrics()
    metrics.record(a_record())
    metrics.record(a_record(outcome="failed", reason="timeout", scheduled_ns=9 * S))
    assert value(metrics, "trial_scheduled_duration_seconds_count", **PLACE) is None
    metrics.record(a_record(scheduled_ns=3 * S))
    assert value(metrics, "trial_scheduled_duration_seconds_sum", **PLACE) == 3


def test_an_open_loop_aims_at_no_number_in_flight() -> None:
    """The target is not a number, so that no alert compares with it."""
    metrics = Metrics()
    metrics.pulse(Pulse("r2", 5, None, 2, 0, 0.3, client_bound=False, rate_per_s=2.0))
    found = value(metrics, "trials_in_flight_target")
    assert found is not None
    assert math.isnan(found)
    assert value(metrics, "trials_in_flight") == 5


def test_failures_are_not_timed() -> None:
    """A failed trial leaves no latency sample; one cut off at max_tokens with text does, as a success."""
    metrics = Metrics()
    metrics.record(a_record(outcome="failed", reason="http_5xx"))
    metrics.record(a_record(outcome="unanswered", reason="starved"))
    assert value(metrics, "trial_duration_seconds_count", **PLACE) is None
    metrics.record(a_record(outcome="unanswered", reason="cut_off"))
    assert value(metrics, "trial_duration_seconds_count", **PLACE) == 1


def test_a_value_not_available_is_no_sample() -> None:
    """A turn without a first token is no sample of 0."""
    metrics = Metrics()
    metrics.record(a_record(turns=(turn(),), service_ns=None))
    assert value(metrics, "time_to_first_token_seconds_count", **PLACE) is None
    assert value(metrics, "trial_duration_seconds_count", **PLACE) is None


def test_tokens_are_counted_by_kind_and_cost_by_currency() -> None:
    """Both cache writes are one kind; thinking is counted beside output, not added to it; money keeps its currency."""
    metrics = Metrics()
    usage = Usage(input=100, cache_write_5m=20, cache_write_1h=5, cache_read=40, output=30, thinking=12)
    metrics.record(a_record(usage=usage, cost="0.0125", currency="EUR"))
    expected = {"input": 100, "cache_write": 25, "cache_read": 40, "output": 30}
    assert {kind: value(metrics, "tokens_total", **PLACE, kind=kind) for kind in expected} == expected
    assert value(metrics, "thinking_tokens_total", **PLACE) == 12
    assert value(metrics, "cost_total", **PLACE, currency="EUR") == 0.0125


def test_no_counter_falls() -> None:
    """A negative count in a reply's usage, or one that is missing, adds nothing."""
    metrics = Metrics()
    metrics.record(a_record(usage=Usage(input=10, output=5)))
    metrics.record(a_record(usage=Usage(input=-3, output=None)))
    assert value(metrics, "tokens_total", **PLACE, kind="input") == 10
    assert value(metrics, "tokens_total", **PLACE, kind="output") == 5


def test_invented_tools_share_one_series() -> None:
    """A thousand tool names that a model made up add one series, `other`; a tool that answered has its own."""
    metrics = Metrics()
    calls = [ToolCall(name=f"invented_{n}", input="{}", ok=False, docs=(), ns=1) for n in range(1000)]
    calls += [ToolCall(name=name, input="{}", ok=True, docs=(), ns=1) for name in ("search", "outline")]
    metrics.record(a_record(turns=(turn(tool_calls=tuple(calls)),)))
    assert value(metrics, "tool_calls_total", **PLACE, tool="other") == 1000
    assert value(metrics, "tool_calls_total", **PLACE, tool="search") == 1
    assert value(metrics, "tool_calls_total", **PLACE, tool="outline") == 1


def test_lag_is_the_worst_of_ten_seconds() -> None:
    """A lag of 80 ms still shows 9 s later, behind smaller ones, and is gone after 11 s."""
    clock = HandClock()
    metrics = Metrics(clock)
    for at_s, lag_ms, shown in ((0, 80, 0.08), (9, 2, 0.08), (11, 1, 0.002)):
        clock.ns = at_s * S
        metrics.pulse(Pulse("c8", 8, 8, 2, lag_ms * 1_000_000, 0.3, client_bound=False))
        assert value(metrics, "event_loop_lag_seconds") == shown


def test_nothing_is_in_flight_after_the_end() -> None:
    """Gauges follow the pulse and return to 0 when the run has finished; totals stay."""
    metrics = Metrics()
    metrics.record(a_record())
    metrics.pulse(Pulse("c8", 7, 8, 2, 0, 0.9, client_bound=True))
    assert [value(metrics, name) for name in ("trials_in_flight", "trials_in_flight_target", "client_bound")] == [
        7,
        8,
        1,
    ]
    metrics.finished()
    assert [value(metrics, name) for name in ("trials_in_flight", "trials_in_flight_target")] == [0, 0]
    assert value(metrics, "trials_total", **PLACE, outcome="answered", reason="") == 1


def test_buckets_reach_300_s() -> None:
    """A reply of 40 s falls into a bucket of its own, far below the last edge; no sample is above 300 s unseen."""
    metrics = Metrics()
    metrics.record(a_record(service_ns=40 * S))
    assert value(metrics, "trial_duration_seconds_bucket", **PLACE, le="30.0") == 0
    assert value(metrics, "trial_duration_seconds_bucket", **PLACE, le="40.0") == 1
    assert SECONDS[-1] == SHORT_SECONDS[-1] == 300


def test_no_series_is_labelled_by_question_or_trial() -> None:
    """A hundred trials of a hundred questions and workers make the same series as one."""
    metrics = Metrics()
    metrics.record(a_record(turns=(turn(ttft_ns=S),)))
    series = generate_latest(metrics.registry).count(b"\n")
    for number in range(100):
        text = f"x{number}"
        metrics.record(a_record(text, question=text, worker=text, category=text, turns=(turn(ttft_ns=S),)))
    assert generate_latest(metrics.registry).count(b"\n") == series


def test_there_are_no_created_series() -> None:
    """Creation times, which double the number of series, are not exported."""
    metrics = Metrics()
    metrics.record(a_record(turns=(turn(ttft_ns=S),)))
    assert b"_created" not in generate_latest(metrics.registry)


AHEAD = Ahead(
    frozenset({("rag-bm25-k5", "m1", "measured"), ("rag-bm25-k5", "m1", "tail")}),
    (StageAhead("c8", 40, None, is_open=False), StageAhead("c16", 80, None, is_open=False)),
    is_steered=False,
    currency="USD",
)


def test_counting_begins_at_zero_so_that_a_first_event_is_a_rise() -> None:
    """J4: before any trial each outcome, code, token kind and currency of every stage is at 0, and a first failure is 1
    more; what no run of this plan has, the warm-up, is not there."""
    metrics = Metrics()
    metrics.expect(AHEAD)
    later = {**PLACE, "stage": "c16", "phase": "tail"}
    for place in (PLACE, later):
        assert value(metrics, "trials_total", **place, outcome="failed", reason="timeout") == 0
        assert value(metrics, "trials_total", **place, outcome="answered", reason="") == 0
        assert value(metrics, "attempts_total", **place, code="429") == 0
        assert value(metrics, "tokens_total", **place, kind="cache_read") == 0
        assert value(metrics, "cost_total", **place, currency="USD") == 0
    metrics.record(a_record(outcome="failed", reason="timeout"))
    assert value(metrics, "trials_total", **PLACE, outcome="failed", reason="timeout") == 1
    assert value(metrics, "trials_total", **{**PLACE, "phase": "warmup"}, outcome="answered", reason="") is None


def test_histograms_begin_with_their_stage() -> None:
    """Those of the first stage are there from the start, empty; of the second when it begins; a closed loop's have no
    scheduled latency, which would be a panel without a line."""
    metrics = Metrics()
    metrics.expect(AHEAD)
    second = {**PLACE, "stage": "c16"}
    assert value(metrics, "trial_duration_seconds_count", **PLACE) == 0
    assert value(metrics, "trial_duration_seconds_count", **second) is None
    metrics.pulse(Pulse("c16", 8, 8, 2, 0, 0.3, client_bound=False))
    assert value(metrics, "trial_duration_seconds_count", **second) == 0
    assert value(metrics, "trial_scheduled_duration_seconds_count", **second) is None


def test_a_run_that_chooses_its_stages_shows_none_that_it_may_not_run() -> None:
    """A search counts from 0 in its first stage, and in each other one when it begins."""
    metrics = Metrics()
    metrics.expect(replace(AHEAD, is_steered=True))
    second = {**PLACE, "stage": "c16"}
    assert value(metrics, "trials_total", **PLACE, outcome="answered", reason="") == 0
    assert value(metrics, "trials_total", **second, outcome="answered", reason="") is None
    metrics.pulse(Pulse("c16", 8, 8, 2, 0, 0.3, client_bound=False))
    assert value(metrics, "trials_total", **second, outcome="answered", reason="") == 0


def test_a_scrape_costs_the_same_however_many_workers() -> None:
    """J1, J2: pulses of 1 and of 100 workers make the same series, and a pulse takes no longer for those before it."""
    metrics = Metrics(HandClock())
    metrics.expect(AHEAD)
    series = []
    for workers in (1, 100):
        for _ in range(100 * workers):
            metrics.pulse(Pulse("c8", 8, 8, workers, 1_000_000, 0.3, client_bound=False))
        series.append(generate_latest(metrics.registry).count(b"\n"))
    assert series[0] == series[1]
    assert len(metrics._lags._slots) == 1


def test_only_the_running_stage_has_a_load() -> None:
    """8 in flight, then 2.5 a second: each under its stage while it runs, and none when the run has ended."""
    metrics, loads = Metrics(), []
    for pulse in (Pulse("c8", 8, 8, 2, 0, 0.3, client_bound=False), Pulse("r2.5", 3, None, 2, 0, 0.3, False, (), 2.5)):
        metrics.pulse(pulse)
        loads.append([value(metrics, "stage_load", stage=stage) for stage in ("c8", "r2.5")])
    metrics.finished()
    assert loads == [[8, None], [None, 2.5]]
    assert value(metrics, "stage_load", stage="r2.5") is None


def test_never_more_trials_have_ended_than_are_planned() -> None:
    """Of a stage with a stated duration the plan is a guess: two were planned, three came, three are planned."""
    metrics = Metrics()
    metrics.started(RunInfo(run="r1", plan="quick", version="0.1.0", planned=2, currency="USD", simulated=True))
    for trial in ("t1", "t2", "t3"):
        metrics.record(a_record(trial))
    assert value(metrics, "trials_planned_total") == 3


def test_j3_a_reply_of_40_s_is_near_40_s_by_its_buckets() -> None:
    """Twenty replies of 40 s: the 95th percentile that `histogram_quantile` makes of the buckets, which is linear in
    the one that holds the nineteenth, is 39.5 s; not 10, where buckets often end."""
    metrics = Metrics()
    for number in range(20):
        metrics.record(a_record(str(number), service_ns=40 * S))
    counts = {edge: value(metrics, "trial_duration_seconds_bucket", **PLACE, le=str(float(edge))) for edge in SECONDS}
    above = min(edge for edge, count in counts.items() if count == 20)
    below = max(edge for edge, count in counts.items() if count == 0)
    assert below + (above - below) * 19 / 20 == 39.5
