"""What the rig knows of itself, from the batches of its workers."""

from __future__ import annotations

from records import attempt, record, turn

from loadrig.fleet.selfwatch import SelfWatch
from loadrig.words.trial import Stage
from loadrig.worker.messages import Batch
from loadrig.worker.probe import Pauses, Vitals

MS = 1_000_000
STAGE = Stage("c4", 4)


def batch(in_flight: int, *lags_ms: int, cpu: float = 0.2, pauses: Pauses | None = None) -> Batch:
    vitals = Vitals(tuple(lag * MS for lag in lags_ms), cpu, pauses or Pauses(), "uvloop.Loop")
    return Batch(1, (), in_flight=in_flight, credits=2, vitals=vitals)


def test_a_stage_and_worker_is_one_row_over_all_its_batches() -> None:
    """Two batches of w1 add up: largest CPU share and lag, pauses summed, 2 of 2 in flight reached; w2 stands apart."""
    watch = SelfWatch()
    watch.pulse(STAGE, "w1", batch(1, 1, 1, cpu=0.5, pauses=Pauses(1, 3 * MS, 3 * MS)), 1, 2)
    watch.pulse(STAGE, "w1", batch(2, 1, 7, pauses=Pauses(2, 5 * MS, 4 * MS)), 2, 2)
    watch.pulse(STAGE, "w2", batch(0), 2, 2)
    first, second = watch.measurements()
    assert (first.process, first.lag_n, first.lag_max_ns, first.cpu_share_max) == ("w1", 4, 7 * MS, 0.5)
    assert (first.gc_pauses, first.gc_total_ns, first.gc_max_ns) == (3, 8 * MS, 4 * MS)
    assert (first.in_flight_target, first.in_flight_max, first.loop) == (2, 2, "uvloop.Loop")
    assert (second.process, second.lag_p99_ns, second.in_flight_max) == ("w2", None, 0)


def test_a_late_loop_or_a_full_core_marks_the_pulse() -> None:
    """6 ms of lag marks it, 86 % of a core marks it, neither does not."""
    bound = [SelfWatch().pulse(STAGE, "w1", one, 1, 1).client_bound for one in (batch(1, 6), batch(1, 1, cpu=0.86))]
    assert bound == [True, True]
    assert not SelfWatch().pulse(STAGE, "w1", batch(1, 1, cpu=0.84), 1, 1).client_bound


def test_one_bound_worker_of_two_stays_bound_in_every_pulse() -> None:
    """w1 was 7 ms late at 90 % of a core; quiet batches of w2, before and after, do not clear the stage of it."""
    watch = SelfWatch()
    watch.pulse(STAGE, "w2", batch(1, 1), 1, 2)
    pulses = [watch.pulse(STAGE, "w1", batch(1, 7, cpu=0.9), 2, 2)]
    pulses += [watch.pulse(STAGE, name, batch(1, 1), 2, 2) for name in ("w2", "w2", "w1", "w2")]
    assert [pulse.client_bound for pulse in pulses] == [True] * 5
    assert [pulse.lag_ns // MS for pulse in pulses] == [7, 7, 7, 1, 1]
    assert [pulse.cpu_share for pulse in pulses] == [0.9, 0.9, 0.9, 0.2, 0.2]


def test_a_new_stage_begins_without_the_last_ones_mark() -> None:
    """Bound at c4, quiet at c8: the mark, the lag and the share are the stage's own."""
    watch = SelfWatch()
    assert watch.pulse(STAGE, "w1", batch(1, 7, cpu=0.9), 1, 1).client_bound
    quiet = watch.pulse(Stage("c8", 8), "w1", batch(1, 1), 1, 1)
    assert (quiet.client_bound, quiet.lag_ns, quiet.cpu_share, quiet.target) == (False, MS, 0.2, 8)


def test_a_late_simulator_marks_the_stage_and_is_named() -> None:
    """The worker is in time, the simulator was 12 ms late: the pulse is marked and says by whom and how far."""
    watch = SelfWatch()
    watch.note("c4", "simulator", Vitals((12 * MS,), 0.2, Pauses(), "uvloop.Loop"))
    pulse = watch.pulse(STAGE, "w1", batch(1, 1), 1, 1)
    assert (pulse.client_bound, pulse.lag_ns) == (True, MS)
    assert pulse.bound_by == ("simulator: loop lag p99 12.0 ms (limit 5.0 ms)",)
    assert [row.in_flight_target for row in watch.measurements()] == [None, 2]


def test_a_process_that_tells_nothing_leaves_the_stage_open() -> None:
    """A simulator is expected and has not answered: not checked, in the pulse and in its row; then it answers."""
    watch = SelfWatch()
    watch.expect("c4", ["w1", "simulator"])
    assert watch.pulse(STAGE, "w1", batch(1, 1), 1, 1).client_bound is None
    silent = watch.measurements()[1]
    assert (silent.process, silent.lag_n, silent.lag_p99_ns, silent.cpu_share_max, silent.gc_pauses) == (
        "simulator", 0, None, None, None,
    )  # fmt: skip
    watch.note("c4", "simulator", Vitals((MS,)))
    assert watch.pulse(STAGE, "w1", batch(1, 1), 1, 1).client_bound is False


def test_the_live_limit_follows_the_first_token_time() -> None:
    """8 ms late is over 5 ms, and not over 5 % of a TTFT of 200 ms; warm-up and failures do not set it."""
    watch = SelfWatch()
    watch.add(record("w", stage="c4", phase="warmup", trial_ttft_ns=900 * MS))
    watch.add(record("f", stage="c4", outcome="failed", reason="timeout", trial_ttft_ns=900 * MS))
    assert watch.pulse(STAGE, "w1", batch(1, 8), 1, 1).client_bound
    watch.add(record("a", stage="c4", trial_ttft_ns=200 * MS))
    assert watch.pulse(STAGE, "w1", batch(1, 8), 1, 1).client_bound is False


def test_the_stamps_of_a_stage_are_counted_for_the_manifest() -> None:
    """Two kernel stamps, one of them late, and one read with segments out of order; warm-up is left out."""
    watch = SelfWatch()
    tries = (
        attempt(headers_ns=1, stamp="kernel", read_lag_ns=2 * MS, read_lag_max_ns=9 * MS),
        attempt(headers_ns=1, stamp="kernel", stamp_late=True, read_lag_ns=4 * MS, read_lag_max_ns=4 * MS),
        attempt(headers_ns=1, reordered=1),
    )
    watch.add(record("a", turns=(turn(attempts=tries),)))
    watch.add(record("w", phase="warmup", turns=(turn(attempts=tries),)))
    (row,) = watch.stamps()
    counted = {name: row[name] for name in ("replies", "kernel", "read", "late", "early", "absent")}
    assert counted == {"replies": 3, "kernel": 2, "read": 1, "late": 1, "early": 1, "absent": 0}
    assert row["read_lag_max_ns"] == 9 * MS
    assert abs(row["read_lag_p99_ns"] - 4 * MS) <= 4 * MS // 1000
