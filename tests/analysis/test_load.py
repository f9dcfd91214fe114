"""Load reached and the rig's own lateness, from clocks that are never compared with one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import MS, S, attempt, failed, read_run, record, turn

from loadrig.analysis.load import StageLoad, stage_loads
from loadrig.analysis.summary import summarize
from loadrig.words.record import Record, Usage


def stage(folder: Path, *records: Record, **given: object) -> StageLoad:
    return stage_loads(read_run(folder, records, **given))[0]


def span(trial: str, begin_s: float, end_s: float, **given: object) -> Record:
    """A record in flight from `begin_s` to `end_s` of its worker's clock, with 10 output tokens."""
    fields = {"usage": Usage(input=1, output=10), **given}
    return record(trial, begin_ns=round(begin_s * S), end_ns=round(end_s * S), **fields)


def test_concurrency_reached_sums_workers_on_their_own_clocks(tmp_path: Path) -> None:
    """Worker 1 keeps two in flight for 2 s, worker 2, whose clock is a day apart, one: three in flight."""
    first = [span("a", 0, 2), span("b", 0, 1), span("c", 1, 2)]
    second = [span("d", 86400, 86402, worker="w2")]
    assert stage(tmp_path, *first, *second).reached == 3


def test_warm_up_and_tail_count_only_inside_the_window(tmp_path: Path) -> None:
    """The window is the measured trial's 1 s to 3 s; a warm-up to 2 s and a tail from 2 s fill the second place."""
    records = [span("m", 1, 3), span("w", 0, 2, phase="warmup"), span("t", 2, 9, phase="tail")]
    found = stage(tmp_path, *records, stages=[{"name": "c2", "concurrency": 1}])
    assert (found.reached, found.window_s) == (2, 2)


def test_the_pause_of_a_resumed_run_is_no_load(tmp_path: Path) -> None:
    """Two trials of 1 s with an hour between them: one in flight over a window of 2 s."""
    found = stage(tmp_path, span("a", 0, 1), span("b", 3601, 3602))
    assert (found.reached, found.window_s) == (1, 2)


def test_idle_time_between_trials_is_part_of_the_window(tmp_path: Path) -> None:
    """A rig that idles half of the time reached half a trial in flight, not one."""
    assert stage(tmp_path, span("a", 0, 1), span("b", 2, 3), span("c", 3, 4)).reached == 0.75


def test_a_killed_worker_does_not_raise_what_was_reached(tmp_path: Path) -> None:
    """Three and three in flight for 10 s, then one worker is killed and the other has six for 20 s: 6, and 0.5/s."""
    killed = [span(f"k{i}", 0, 10, worker="w1") for i in range(3)]
    left = [span(f"l{i}", 0, 10, worker="w2") for i in range(3)]
    more = [span(f"m{i}", 10, 30, worker="w2") for i in range(6)]
    found = stage(tmp_path, *killed, *left, *more, stages=[{"name": "c2", "concurrency": 6}])
    assert (found.reached, found.trials_per_s, found.window_s, found.window_n) == (6, 12 / 30, 30, 12)


def test_a_short_pause_between_two_sessions_is_no_load(tmp_path: Path) -> None:
    """Two trials of 1 s in each of two sessions, 8 s apart on one clock: one in flight over 4 s, one trial a second."""
    sessions = [{"began_at": "2026-11-20T12:00:00Z"}, {"began_at": "2026-11-20T12:00:10Z", "ended_at": None}]
    first = [span(f"a{i}", i, i + 1, began_at=f"2026-11-20T12:00:0{i}.5Z") for i in range(2)]
    second = [span(f"b{i}", i + 10, i + 11, began_at=f"2026-11-20T12:00:1{i}.5Z") for i in range(2)]
    found = stage(tmp_path, *first, *second, sessions=sessions)
    assert (found.reached, found.window_s, found.trials_per_s) == (1, 4, 1)


def test_instants_of_two_sessions_are_not_compared(tmp_path: Path) -> None:
    """After a reboot the clock began anew and the second session's instants lie inside the first's: still one trial
    a second, one in flight, over 4 s."""
    sessions = [{"began_at": "2026-11-20T12:00:00Z"}, {"began_at": "2026-11-21T12:00:00Z"}]
    first = [span(f"a{i}", i, i + 1) for i in range(2)]
    second = [span(f"b{i}", i, i + 1, began_at="2026-11-21T12:00:03Z") for i in range(2)]
    found = stage(tmp_path, *first, *second, sessions=sessions)
    assert (found.reached, found.window_s, found.trials_per_s) == (1, 4, 1)


def test_a_wall_clock_that_was_set_puts_no_record_into_another_session(tmp_path: Path) -> None:
    """Set forwards by three hours behind the first trial and right again before the second session, which began when
    two records were on file: still one in flight over 4 s, one trial a second."""
    sessions = [
        {"began_at": "2026-11-20T12:00:00Z", "records": 0}, {"began_at": "2026-11-20T12:00:10Z", "records": 2},
    ]  # fmt: skip
    first = [span("a0", 0, 1, began_at="2026-11-20T12:00:00.5Z"), span("a1", 1, 2, began_at="2026-11-20T15:00:01.5Z")]
    second = [span(f"b{i}", i + 10, i + 11, began_at=f"2026-11-20T12:00:1{i}.5Z") for i in range(2)]
    found = stage(tmp_path, *first, *second, sessions=sessions)
    assert (found.reached, found.window_s, found.trials_per_s) == (1, 4, 1)


def test_a_long_silence_inside_a_session_is_load_that_was_not_reached(tmp_path: Path) -> None:
    """With sessions known nothing is guessed: 18 s idle of 20 s inside one session are a tenth of a trial in flight."""
    sessions = [{"began_at": "2026-11-20T12:00:00Z"}]
    found = stage(tmp_path, span("a", 0, 1), span("b", 19, 20), sessions=sessions)
    assert found.reached == 0.1


def test_a_window_of_fewer_trials_than_places_gives_no_rate(tmp_path: Path) -> None:
    """Four measured trials and 49 tail ones of a stopped stage of eight: no rate, and of how many."""
    measured = [span(f"m{i}", 0, 1) for i in range(4)]
    tail = [span(f"t{i}", 0, 9, phase="tail") for i in range(49)]
    found = stage(tmp_path, *measured, *tail, stages=[{"name": "c2", "concurrency": 8}])
    assert (found.reached, found.trials_per_s, found.output_tokens_per_s) == (None, None, None)
    assert (found.window_n, found.tail, found.asked) == (4, 49, 53)


def test_throughput_counts_successes(tmp_path: Path) -> None:
    """D4: 5 answered and 5 refused in 5 s are one trial a second; tokens of measured trials 10 a second."""
    refused = [failed(f"f{i}", "rate_limited", begin_ns=i * S, end_ns=i * S + 2 * MS) for i in range(5)]
    found = stage(tmp_path, *(span(f"a{i}", i, i + 1) for i in range(5)), *refused)
    assert (found.trials_per_s, found.output_tokens_per_s, found.failed, found.asked) == (1, 10, 5, 10)


def test_rates_count_what_ended_in_the_window_whatever_its_phase(tmp_path: Path) -> None:
    """Two places busy from 0 to 4 s, 1 s a trial; the first measured one begins at 1 s beside one of the warm-up that
    ends at 1.5 s: six of 10 tokens in the 3 s to the last measured end are 2 trials and 20 tokens a second."""
    warm = [span("w1", 0, 1, phase="warmup"), span("w2", 0.5, 1.5, phase="warmup")]
    measured = [span(f"m{i}", 1 + i / 2, 2 + i / 2) for i in range(5)]
    found = stage(tmp_path, *warm, *measured, span("t", 3.5, 4.5, phase="tail"))
    assert (found.trials_per_s, found.output_tokens_per_s, found.window_s) == (2, 20, 3)


def test_littles_law_checks_what_was_reached(tmp_path: Path) -> None:
    """One trial in flight, 1 s each: 1 a second x 1 s is one in flight. In half of the time nothing is: still so, as
    both are halved. A short one that the window cuts beside a long one that it holds: it does not hold."""
    assert stage(tmp_path / "a", *(span(f"m{i}", i, i + 1) for i in range(4))).little == 1
    assert stage(tmp_path / "b", *(span(f"m{i}", 2 * i, 2 * i + 1) for i in range(4))).little == 1
    cut = [span("w1", -1, 1, phase="warmup"), span("m", 0, 4, service_ns=4 * S)]
    one = [{"name": "c2", "concurrency": 1}]
    assert stage(tmp_path / "c", *cut, stages=one).little == pytest.approx(2 * 4 / 5)


def test_without_clocks_there_is_no_rate(tmp_path: Path) -> None:
    """Lost trials have no times: rates are not available, not 0."""
    found = stage(tmp_path, failed("l", "lost", worker=None))
    assert (found.reached, found.trials_per_s, found.client_bound) == (None, None, None)


def process(name: str, lag_ms: float | None, cpu: float | None = 0.1) -> dict[str, object]:
    """A row of the manifest's self-measurement."""
    lag_ns = None if lag_ms is None else round(lag_ms * MS)
    return {"stage": "c2", "process": name, "lag_p99_ns": lag_ns, "cpu_share_max": cpu}


@pytest.mark.parametrize(
    ("lag_ms", "cpu", "ttft_ms", "bound"),
    [(5, 0.85, 100, False), (5.1, 0.1, 100, True), (49, 0.1, 1000, False), (51, 0.1, 1000, True), (1, 0.86, 100, True)],
)
def test_client_bound(tmp_path: Path, lag_ms: float, cpu: float, ttft_ms: int, bound: bool) -> None:
    """Bound when lag p99 > max(5 ms, 5 % of the stage's TTFT p50) or CPU > 85 %."""
    rows = [process("w1", lag_ms, cpu)]
    found = stage(tmp_path, record("a", trial_ttft_ns=ttft_ms * MS), self_measurement=rows)
    assert found.client_bound is bound


def test_a_late_simulator_counts_and_is_the_cause(tmp_path: Path) -> None:
    """The worker is in time; the simulator on the same machine, 12 ms late, marks the stage and is named."""
    rows = [process("w1", 1), process("simulator", 12)]
    found = stage(tmp_path, record("a"), self_measurement=rows, simulated=True)
    assert found.client_bound is True
    assert [str(cause) for mark in found.client for cause in mark.causes] == [
        "simulator: loop lag p99 12.0 ms (limit 5.0 ms)"
    ]


@pytest.mark.parametrize(
    ("rows", "simulated"),
    [
        ([], False),
        ([process("w1", None, None)], False),
        ([process("w2", 1)], False),
        ([process("w1", 1)], True),
        ([process("w1", 1), process("simulator", None)], True),
    ],
    ids=["no measurement", "no sample", "another worker's", "none of the simulator", "no sample of the simulator"],
)
def test_without_the_rigs_own_samples_it_is_not_checked(
    tmp_path: Path, rows: list[dict[str, object]], simulated: bool
) -> None:
    """Null, not no: of a worker with records, or of the simulator of a simulated run, nothing is known."""
    assert stage(tmp_path, record("a"), self_measurement=rows, simulated=simulated).client_bound is None


def test_stamps_and_read_lags_of_a_stage(tmp_path: Path) -> None:
    """Four replies: three stamped by the kernel, one of them late, and one whose kernel stamps were absent; an attempt
    without a reply is none. Read lags 1, 2, 3 ms: p50 2, p99 3; the largest of any read 7; all of worker w1."""
    tries = (
        *(attempt(headers_ns=1, stamp="kernel", read_lag_ns=lag * MS, read_lag_max_ns=lag * MS) for lag in (1, 2)),
        attempt(headers_ns=1, stamp="kernel", stamp_late=True, read_lag_ns=3 * MS, read_lag_max_ns=7 * MS),
        attempt(headers_ns=1, reads_unstamped=2),
        attempt(http_status=None),
    )
    found = stage(tmp_path, record("a", turns=(turn(attempts=tries),)), self_measurement=[process("w1", 1)])
    of = found.stamps
    assert (of.replies, of.kernel, of.read, of.late, of.early, of.absent) == (4, 3, 1, 1, 0, 1)
    for lag in (of.read_lag, found.client[0].read_lag):
        assert lag.p50 is not None
        assert lag.p99 is not None
        assert (lag.n, lag.p50.value_ns, lag.p99.value_ns, lag.max_ns) == (3, 2 * MS, 3 * MS, 7 * MS)


@pytest.mark.parametrize(("load", "warned"), [({}, True), ({"think_s": 1.0}, False)])
def test_g11_a_load_that_is_not_reached_is_warned_of(tmp_path: Path, load: dict[str, float], warned: bool) -> None:
    """One in flight where two were asked for; a plan that has its places rest asks for no more."""
    run = read_run(tmp_path, [span("a", 0, 1), span("b", 1, 2)], plan={"name": "night", "load": load})
    told = [warning for warning in summarize(run).warnings if "in flight were reached" in warning]
    assert told == (["stage c2: only 1.00 of 2 in flight were reached"] if warned else [])
