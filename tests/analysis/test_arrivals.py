"""Open loop as it was: scheduled latency, what was offered and achieved, and whether the target kept up."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace
from records import MS, S, failed, read_run, record, trial_of

from loadrig.analysis.arrivals import Arrivals
from loadrig.analysis.summary import Summary, summarize
from loadrig.words.record import Record


def stage(length_s: float, *, measured_from_s: float = 0, max_in_flight: int = 100) -> dict[str, object]:
    """One arrival a second, constant."""
    loop = {"arrivals": "constant", "rate_per_s": 1.0, "ramp_s": 0.0, "max_in_flight": max_in_flight,
            "measured_from_ns": round(measured_from_s * S), "length_ns": round(length_s * S)}  # fmt: skip
    return {"name": "r1", "concurrency": None, "open_loop": loop, "duration_s": None}


def sent(due_s: float, took_s: float, *, waited_s: float = 0.0, **given: object) -> tuple[float, Record]:
    """A trial due then, sent so much later, ended so long after that; the clock of its worker is a day ahead."""
    due_ns = round((86_400 + due_s) * S)
    begin_ns, end_ns = due_ns + round(waited_s * S), due_ns + round((waited_s + took_s) * S)
    fields = {"stage": "r1", "due_ns": due_ns, "begin_ns": begin_ns, "end_ns": end_ns, "service_ns": end_ns - begin_ns,
              "dispatch_delay_ns": begin_ns - due_ns, "scheduled_ns": end_ns - due_ns}  # fmt: skip
    return due_s, record(f"t{due_s:g}", **{**fields, **given})


def given_up(due_s: float, waited_s: float) -> tuple[float, Record]:
    """A trial that was still waiting when its stage ended."""
    none = {"service_ns": None, "trial_ttft_ns": None, "ttfat_ns": None, "began_at": None, "worker": None, "answer": ""}
    fields = {**none, "scheduled_ns": round(waited_s * S), "stage": "r1", "outcome": "not_run", "reason": "late"}
    return due_s, record(f"t{due_s:g}", **fields)


def summary(folder: Path, of: dict[str, object], *rows: tuple[float, Record]) -> Summary:
    trials = [replace(trial_of(r), due_ns=round(due_s * S)) for due_s, r in rows]
    return summarize(read_run(folder, [r for _, r in rows], trials=trials, stages=[of]))


def arrivals(folder: Path, of: dict[str, object], *rows: tuple[float, Record]) -> Arrivals:
    (found,) = summary(folder, of, *rows).stages
    assert found.open_loop is not None
    return found.open_loop


def evenly(count: int, took_s: float) -> Iterable[tuple[float, Record]]:
    return (sent(n, took_s) for n in range(count))


def test_scheduled_latency_counts_from_the_due_time(tmp_path: Path) -> None:
    """Eight due 100 ms apart, one slot, 500 ms each: service 500 ms, waits mean 1.4 s, scheduled median 1.7 s."""
    rows = [sent(n / 10, 0.5, waited_s=0.4 * n) for n in range(8)]
    found = arrivals(tmp_path, stage(0.8, max_in_flight=1), *rows)
    spread = found.scheduled.successes
    assert spread.p50 is not None
    assert spread.p99 is not None
    assert found.dispatch_delay.p99 is not None
    assert (spread.p50.value_ns, spread.p99.value_ns) == (1700 * MS, 3300 * MS)
    assert found.dispatch_delay.p99.value_ns == 2800 * MS
    assert found.full


def test_what_was_never_sent_ranks_beyond_every_success(tmp_path: Path) -> None:
    """Three answered in 1 s and one given up after 7 s: "3 of 4", with failures p99 over 7 s; service knows three."""
    found = summary(tmp_path, stage(4, max_in_flight=1), *evenly(3, 1), given_up(3, 7))
    (arm,) = found.arms
    assert arm.scheduled is not None
    assert arm.scheduled.with_failures.p99 is not None
    assert (arm.scheduled.ok, arm.scheduled.n, arm.service.n, arm.late) == (3, 4, 3, 1)
    assert arm.scheduled.with_failures.p99.beyond_ns == 7 * S
    assert "stage r1: 1 of 4 trials due were never sent (max_in_flight 1 was reached)" in found.warnings


def test_an_unfinished_trial_is_censored_at_its_age(tmp_path: Path) -> None:
    """Cut off at the limit 30 s after it was sent, 2 s after it was due: beyond every success, over 32 s."""
    due_s, cut = sent(3, 30, waited_s=2)
    late = failed(cut.trial, stage="r1", due_ns=cut.due_ns, begin_ns=cut.begin_ns, end_ns=cut.end_ns,
                  dispatch_delay_ns=cut.dispatch_delay_ns, scheduled_ns=cut.scheduled_ns)  # fmt: skip
    found = arrivals(tmp_path, stage(4), *evenly(3, 1), (due_s, late)).scheduled
    assert found.with_failures.p99 is not None
    assert (found.ok, found.n, found.with_failures.p99.beyond_ns) == (3, 4, 32 * S)


def test_offered_and_achieved_are_of_the_measured_part(tmp_path: Path) -> None:
    """Two warm-up trials, then ten in ten seconds, two of which end behind the stage: 1 a second due, 0.9 ended."""
    warm = [sent(n, 1, phase="warmup") for n in range(2)]
    rows = [sent(n, 1 if n < 10 else 3) for n in range(2, 12)]
    found = arrivals(tmp_path, stage(12, measured_from_s=2), *warm, *rows)
    assert (found.due, found.offered_per_s, found.achieved_per_s, found.measured_s) == (10, 1.0, 0.9, 10.0)


def test_in_flight_is_what_was_sent_and_not_ended(tmp_path: Path) -> None:
    """One a second that take 2.5 s: two, and for half of each second three, in flight once the first have gone on."""
    found = arrivals(tmp_path, stage(12, measured_from_s=4), *evenly(12, 2.5))
    assert (found.in_flight_mean, found.in_flight_max) == (2.5, 3)


def test_workers_share_the_stages_begin_and_no_clock(tmp_path: Path) -> None:
    """The second worker's clock is a year ahead: still one in flight at a time."""
    rows = [sent(n, 1, worker=f"w{1 + n % 2}", due_ns=(n % 2) * 31_536_000 * S) for n in range(6)]
    assert arrivals(tmp_path, stage(6), *rows).in_flight_max == 1


@pytest.mark.parametrize(("slower_s", "growing"), [(0.0, False), (1.0, True)])
def test_a_backlog_that_grows_is_noticed(tmp_path: Path, slower_s: float, growing: bool) -> None:
    """Thirty trials of 2 s each: kept up with; each a second slower than the one before: saturated, and warned of."""
    found = summary(tmp_path, stage(30), *(sent(n, 2 + slower_s * n) for n in range(30)))
    assert found.stages[0].open_loop is not None
    assert found.stages[0].open_loop.growing is growing
    assert any("saturated" in warning for warning in found.warnings) is growing


def test_a_stall_that_was_got_over_is_no_saturation(tmp_path: Path) -> None:
    """Sixty due, the target stalled from 20 to 30 s and answered all at its end: the backlog is back where it was."""
    rows = [sent(n, 30 - n + 0.1 if 20 <= n < 30 else 0.1) for n in range(60)]
    assert not arrivals(tmp_path, stage(60), *rows).growing


def test_a_stall_near_the_end_is_no_saturation(tmp_path: Path) -> None:
    """The same stall from 45 to 55 s: the backlog was level before it, so it did not grow, it jumped."""
    rows = [sent(n, 55 - n + 0.1 if 45 <= n < 55 else 0.1) for n in range(60)]
    assert not arrivals(tmp_path, stage(60), *rows).growing


def test_closed_loop_has_no_scheduled_latency(tmp_path: Path) -> None:
    """Null, not 0, in the stage and in the arm; the due times of the record are null too."""
    found = summarize(read_run(tmp_path, [record("a")]))
    assert (found.stages[0].open_loop, found.arms[0].scheduled, found.arms[0].dispatch_delay) == (None, None, None)
