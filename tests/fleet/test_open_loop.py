"""The driver of an open loop, and of stages that last so long, over workers that a test writes by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hand_clock import HandClock
from hand_worker import MEASURED, HandWorker, driven, promptly

from loadrig import log
from loadrig.fleet.handle import UnreachableError
from loadrig.words.errors import FleetError
from loadrig.words.record import Record
from loadrig.words.trial import OpenLoop, Stage, Trial
from loadrig.worker.messages import Batch, Order

MS, S = 1_000_000, 1_000_000_000
AHEAD = {"w1": 7 * S, "w2": -3 * S}  # of the driver's clock

Says = Callable[[HandWorker, Order], Batch]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    """The driver's."""
    clock = HandClock()
    clock.ns = 100 * S
    monkeypatch.setattr("loadrig.fleet.driver.SystemClock", lambda: clock)
    return clock


def each_second(count: int) -> tuple[Stage, list[Trial]]:
    """Trials due at 0, 1, 2, ... s; the stage ends when the next would be."""
    loop = OpenLoop("constant", 1.0, 0.0, 8, 0, count * S)
    return Stage("r1", None, loop), [Trial(f"t{n}", n, stage="r1", due_ns=n * S, **MEASURED) for n in range(count)]  # type: ignore[arg-type]


def with_a_clock(clock: HandClock, says: Says) -> Says:
    """Each exchange takes 250 ms, on the worker's clock too; those that compare clocks take nothing."""

    def answer(worker: HandWorker, order: Order) -> Batch:
        if order.credits == 0:
            return worker.batch(heard_ns=clock.ns + AHEAD[worker.name], answered_ns=clock.ns + AHEAD[worker.name])
        clock.ns += 250 * MS
        return says(worker, order)

    return answer


def when_due(worker: HandWorker, order: Order) -> Batch:
    """Ends what was given in an earlier exchange."""
    return worker.batch([trial for trial in worker.held if trial not in order.trials])


def given_out(worker: HandWorker) -> dict[str, int]:
    """The number of the order with which each trial came."""
    return {trial.id: number for number, order in enumerate(worker.orders) for trial in order.trials}


def test_trials_are_leased_a_second_ahead(tmp_path: Path, clock: HandClock) -> None:
    """Exchanges of 250 ms from 600 ms before the begin: the first trial goes out with the first order, the others with
    the first that is less than a second ahead of them: the fourth, at 150 ms, and each fourth after it."""
    worker = HandWorker("w1", with_a_clock(clock, when_due))
    driven(tmp_path, [each_second(4)], worker)
    first = worker.orders.index(next(order for order in worker.orders if order.credits))
    assert {trial: number - first for trial, number in given_out(worker).items()} == {
        "t0": 0,
        "t1": 3,
        "t2": 7,
        "t3": 11,
    }


def test_every_worker_is_told_the_one_begin_on_its_own_clock(tmp_path: Path, clock: HandClock) -> None:
    """600 ms after the clocks were compared at 100 s: 107.6 s on a clock 7 s ahead, 97.6 s on one 3 s behind."""
    workers = [HandWorker(name, with_a_clock(clock, promptly)) for name in AHEAD]
    found = driven(tmp_path, [each_second(2)], *workers)
    told = [{order.begin_ns for order in worker.orders if order.credits} for worker in workers]
    assert told == [{107_600 * MS}, {97_600 * MS}]
    assert [(row["worker"], row["error_ns"], row["round_trips"]) for row in found.driver.watch.clocks()] == [
        ("w1", 0, 8), ("w2", 0, 8),
    ]  # fmt: skip


def test_workers_share_the_arrivals_in_turn(tmp_path: Path, clock: HandClock) -> None:
    """Six trials over two workers: every second one each, all asked once."""
    workers = [HandWorker(name, with_a_clock(clock, when_due)) for name in AHEAD]
    found = driven(tmp_path, [each_second(6)], *workers)
    shares = [list(given_out(worker)) for worker in workers]
    assert shares == [["t0", "t2", "t4"], ["t1", "t3", "t5"]]
    assert {outcome for _, outcome, _ in found.on_file} == {"answered"}


def test_what_still_waits_at_the_end_is_late_with_its_age(tmp_path: Path, clock: HandClock) -> None:
    """The worker hands the second of two back unsent when the stage ends after 2 s (and 50 ms): late, 1.05 s old."""

    def full(worker: HandWorker, order: Order) -> Batch:
        if not order.stop:
            return worker.batch()
        waiting = [trial for trial in worker.held if trial.id == "t1"]
        batch = worker.batch([trial for trial in worker.held if trial.id == "t0"], returned=("t1",) if waiting else ())
        worker.held = []
        return batch

    driven(tmp_path, [each_second(2)], HandWorker("w1", with_a_clock(clock, full)))
    lines = (tmp_path / log.RECORDS).read_bytes().splitlines()[1:]
    records = {one.trial: one for one in (msgspec.json.decode(line, type=Record) for line in lines)}
    late = records["t1"]
    assert (late.outcome, late.reason, late.scheduled_ns, late.dispatch_delay_ns) == (
        "not_run",
        "late",
        1050 * MS,
        None,
    )
    assert records["t0"].outcome == "answered"


@pytest.mark.parametrize(
    ("error", "begun", "lost"),
    [(FleetError, None, ["t0"]), (UnreachableError, None, ["t0", "t2"]), (UnreachableError, 1, ["t0"])],
)
def test_a_dead_workers_unsent_trials_go_to_the_others(
    tmp_path: Path, clock: HandClock, error: type[FleetError], begun: int | None, lost: list[str]
) -> None:
    """w1 is given up with t0 due and t2 ahead of its time. Dead for certain: t0 is lost by name, t2 and t4 are answered
    by w2. Perhaps alive, and nobody can say what it began: it may yet send t2, which is lost too, and sent by no other.
    """

    def ends_with_two(worker: HandWorker, order: Order) -> Batch:
        if len(worker.held) == 2:
            raise error("worker w1 died")
        return worker.batch()

    workers = [HandWorker("w1", with_a_clock(clock, ends_with_two)), HandWorker("w2", with_a_clock(clock, when_due))]
    workers[0].begun = begun
    found = driven(tmp_path, [each_second(5)], *workers)
    became = {trial: reason or outcome for trial, outcome, reason in found.on_file}
    assert became == {f"t{n}": "lost" if f"t{n}" in lost else "answered" for n in range(5)}


def test_a_closed_loop_of_stated_duration_drops_what_it_had_no_time_for(tmp_path: Path, clock: HandClock) -> None:
    """Two in flight for 1 s, an exchange of 250 ms each: what was not leased by then is neither asked nor on file."""
    stage = Stage("c2", 2, duration_s=1.0)
    trials = [Trial(f"t{n}", n, stage="c2", **MEASURED) for n in range(500)]  # type: ignore[arg-type]
    worker = HandWorker("w1", with_a_clock(clock, promptly))
    found = driven(tmp_path, [(stage, trials)], worker)
    asked = set(given_out(worker))
    assert {trial for trial, outcome, _ in found.on_file if outcome == "answered"} == asked
    assert found.driver.surplus == {trial.id for trial in trials} - asked
    assert len(found.on_file) == len(asked) < 60


def test_stages_do_not_overlap(tmp_path: Path, clock: HandClock) -> None:
    """Trials that go on for 3 s behind the end of their stage: the next begins when the last of them has ended."""

    def slowly(worker: HandWorker, order: Order) -> Batch:
        assert {trial.stage for trial in worker.held} == {order.stage}
        given_ns = {trial.id: n for n, one in enumerate(worker.orders) for trial in one.trials}
        old = [trial for trial in worker.held if len(worker.orders) - given_ns[trial.id] > 12]
        return worker.batch(old)

    first = each_second(1)
    later = [Trial("u0", 1, stage="r2", due_ns=0, **MEASURED)]  # type: ignore[arg-type]
    stages = [first, (Stage("r2", None, first[0].open_loop), later)]
    found = driven(tmp_path, stages, HandWorker("w1", with_a_clock(clock, slowly)))
    assert [(trial, outcome) for trial, outcome, _ in found.on_file] == [("t0", "answered"), ("u0", "answered")]


def test_a_run_taken_up_does_not_wait_for_what_is_done(tmp_path: Path, clock: HandClock) -> None:
    """Only the trials due at 60 and 61 s are left: the stage's begin is 60 s ago, and 600 ms ahead of the first."""
    stage, trials = each_second(62)
    worker = HandWorker("w1", with_a_clock(clock, when_due))
    driven(tmp_path, [(stage, trials[60:])], worker)
    begins = {order.begin_ns for order in worker.orders if order.credits}
    assert begins == {(100 - 60) * S + 600 * MS + AHEAD["w1"]}
