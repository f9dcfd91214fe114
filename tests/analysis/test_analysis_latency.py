"""Latency of a run: what is in it, what is out, and that failures never flatter it."""

from __future__ import annotations

from pathlib import Path

from records import MS, S, failed, read_run, record, turn

from loadrig.analysis.latency import latency
from loadrig.analysis.selection import timed
from loadrig.analysis.summary import Summary, summarize
from loadrig.words.record import Gaps


def only_arm(folder: Path, *records: object, **given: object) -> Summary:
    return summarize(read_run(folder, records, **given))  # type: ignore[arg-type]


def test_success_latency_says_of_how_many_and_failures_rank_beyond(tmp_path: Path) -> None:
    """D3: 6 of 1 s and 4 at the 30 s limit: success p95 1 s "6 of 10"; with failures p50 1 s, p95 over 30 s."""
    service = (
        only_arm(tmp_path, *(record(f"a{i}") for i in range(6)), *(failed(f"f{i}") for i in range(4))).arms[0].service
    )
    assert (service.ok, service.n) == (6, 10)
    assert service.successes.p95 is not None
    assert service.with_failures.p50 is not None
    assert service.with_failures.p95 is not None
    assert (service.successes.p95.value_ns, service.with_failures.p50.value_ns) == (S, S)
    assert (service.with_failures.p95.value_ns, service.with_failures.p95.beyond_ns) == (None, 30 * S)


def test_quick_failures_do_not_flatter_the_latency(tmp_path: Path) -> None:
    """D4: 5 refused in 2 ms, 5 answered in 1 s: the success median is 1 s and with failures p95 is over 1 s."""
    refused = [failed(f"f{i}", "rate_limited", service_ns=2 * MS) for i in range(5)]
    service = only_arm(tmp_path, *(record(f"a{i}") for i in range(5)), *refused).arms[0].service
    assert service.successes.p50 is not None
    assert service.with_failures.p95 is not None
    assert (service.successes.p50.value_ns, service.with_failures.p95.beyond_ns) == (S, S)


def test_when_all_failed_there_is_still_a_summary(tmp_path: Path) -> None:
    """D10: 20 of 20 time out: latencies are not available, the outcomes are counted."""
    arm = only_arm(tmp_path, *(failed(f"f{i}") for i in range(20))).arms[0]
    assert (arm.ttft.successes.p50, arm.ttft.ok, arm.ttft.n) == (None, 0, 20)
    assert [(row.outcome, row.reason, row.n) for row in arm.outcomes] == [("failed", "timeout", 20)]


def test_cut_off_is_a_latency_success_and_starved_is_not() -> None:
    """An answer cut at the token limit was heard in full time; one that never came ranks beyond."""
    cut = record("a", outcome="unanswered", reason="cut_off", service_ns=2 * S)
    starved = record("b", outcome="unanswered", reason="starved", service_ns=3 * S, ttfat_ns=None)
    found = latency([cut, starved], "service")
    assert (found.ok, found.n) == (1, 2)


def test_only_measured_trials_asked_once_are_timed(tmp_path: Path) -> None:
    """Warm-up, tail, not run and re-asked trials leave latency; one that was only put off earlier stays."""
    lost, stopped = failed("again", "lost"), record("late", outcome="not_run", reason="stopped")
    records = [
        lost, stopped, record("again", try_no=2), record("late", try_no=2), record("w", phase="warmup"),
        record("t", phase="tail"), record("n", outcome="not_run", reason="stopped"), record("plain"),
    ]  # fmt: skip
    assert [r.trial for r in timed(read_run(tmp_path, records))] == ["late", "plain"]


def test_a_failure_counts_with_what_is_known_of_it() -> None:
    """A stream that broke after its first token at 100 ms is beyond every TTFT, its bound 100 ms and not its 30 s."""
    found = latency([failed("f", trial_ttft_ns=100 * MS)], "ttft").with_failures.p50
    assert found is not None
    assert found.beyond_ns == 100 * MS


def test_one_token_answers_have_no_token_rate(tmp_path: Path) -> None:
    """B5: without TPOT and gaps a trial is left out of their figures, never in as 0."""
    rate = record("a", turns=(turn(tpot_ns=50 * MS, gaps=Gaps(3, 500 * MS, 500 * MS, 500 * MS)),))
    one_token = record("b", turns=(turn(),))
    arm = only_arm(tmp_path, rate, one_token).arms[0]
    assert arm.tpot.p50 is not None
    assert arm.gap_max.p50 is not None
    assert (arm.tpot.p50.value_ns, arm.tpot.p50.n) == (50 * MS, 1)
    assert (arm.gap_max.p50.value_ns, arm.gap_max.p50.n) == (500 * MS, 1)


def test_retrieval_is_told_with_the_part_spent_waiting(tmp_path: Path) -> None:
    """Searches of 10 and 30 ms waited 0 and 10 ms, one of 60 ms is not known to have: p95 60 ms, a quarter waiting."""
    found = [
        record("a", retrieval_ns=10 * MS, retrieval_queue_ns=0), record("c", retrieval_ns=60 * MS), record("d"),
        record("b", retrieval_ns=30 * MS, retrieval_queue_ns=10 * MS),
    ]  # fmt: skip
    searched = only_arm(tmp_path, *found).arms[0].retrieval
    assert searched.p50 is not None
    assert searched.p95 is not None
    assert (searched.n, searched.p50.value_ns, searched.p95.value_ns) == (3, 30 * MS, 60 * MS)
    assert searched.queue_share == 0.25


def test_hidden_thinking_and_bursts_of_first_turns_are_counted(tmp_path: Path) -> None:
    """Of two trials the first turn of one had hidden thinking; the burst of a second turn is not its first's."""
    hidden = record("a", turns=(turn(hidden_thinking=True), turn(burst=True)))
    first = only_arm(tmp_path, hidden, record("b", turns=(turn(),))).arms[0].first_turns
    assert (first.n, first.hidden_thinking, first.burst) == (2, 1, 0)
