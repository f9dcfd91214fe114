"""The driver over workers that a test writes by hand: every trial accounted for, however a run ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hand_clock import HandClock
from hand_worker import Driven, HandWorker, driven, on_file, promptly, trials
from msgspec.structs import replace
from records import failed, record

from loadrig import log
from loadrig.fleet.driver import Driver
from loadrig.words.errors import FleetError, LogError
from loadrig.words.record import Record, Usage
from loadrig.worker.messages import Batch, Order


def dies(worker: HandWorker, order: Order) -> Batch:
    raise FleetError(f"worker {worker.name} died")


def never(worker: HandWorker, order: Order) -> Batch:
    """What is in hand stays in hand."""
    return worker.batch()


def outcomes(found: Driven) -> dict[str, str | None]:
    """Reason, else outcome, by trial; each trial stands on file once."""
    rows = {trial: reason or outcome for trial, outcome, reason in found.on_file}
    assert len(rows) == len(found.on_file)
    return rows


def test_observers_are_told_everything_once(tmp_path: Path) -> None:
    """Five trials: one start that plans 5, the five records as they stand on file, a pulse an exchange, one end."""
    worker = HandWorker("w1", promptly)
    found = driven(tmp_path, [trials("c2", 5)], worker)
    assert [info.planned for info in found.seen.infos] == [5]
    assert [one.trial for one in found.seen.records] == ["c2-0", "c2-1", "c2-2", "c2-3", "c2-4"]
    assert [trial for trial, _, _ in found.on_file] == ["c2-0", "c2-1", "c2-2", "c2-3", "c2-4"]
    assert len(found.seen.pulses) == len(worker.orders) > 1
    assert found.seen.finishes == 1


def test_each_batch_is_acknowledged_in_the_next_order(tmp_path: Path) -> None:
    """Batches 1, 2, ... of a worker: the first order acknowledges none, each later one the batch before it."""
    worker = HandWorker("w1", promptly)
    driven(tmp_path, [trials("c2", 5), trials("d2", 2)], worker)
    assert [order.ack for order in worker.orders] == list(range(len(worker.orders)))


def test_a_pulse_sums_what_the_workers_have_in_flight(tmp_path: Path) -> None:
    """One in flight at each of two workers: 1, then 2; as they end theirs 1 and 0. Two are aimed at by two."""

    def second_time(worker: HandWorker, order: Order) -> Batch:
        return worker.batch() if len(worker.orders) == 1 else promptly(worker, order)

    found = driven(tmp_path, [trials("c2", 2)], HandWorker("w1", second_time), HandWorker("w2", second_time))
    assert [pulse.in_flight for pulse in found.seen.pulses] == [1, 2, 1, 0, 0]
    assert {(pulse.target, pulse.workers) for pulse in found.seen.pulses} == {(2, 2)}


def test_what_a_dead_worker_had_is_no_longer_in_flight(tmp_path: Path) -> None:
    """One in flight at each of two; the second dies: the last pulses count the first alone, and one worker."""

    def dies_later(worker: HandWorker, order: Order) -> Batch:
        return worker.batch() if len(worker.orders) == 1 else dies(worker, order)

    def third_time(worker: HandWorker, order: Order) -> Batch:
        return worker.batch() if len(worker.orders) < 3 else promptly(worker, order)

    found = driven(tmp_path, [trials("c2", 2)], HandWorker("w1", third_time), HandWorker("w2", dies_later))
    assert [pulse.in_flight for pulse in found.seen.pulses] == [1, 2, 2, 0]
    assert found.seen.pulses[-1].workers == 1


def test_a_worker_that_fails_loses_its_trials_by_name(tmp_path: Path) -> None:
    """w1 dies with two and one leased ahead: all three are lost, by its name and pid; it is ended, and warned of."""
    worker = HandWorker("w1", dies)
    found = driven(tmp_path, [trials("c2", 5)], worker)
    assert outcomes(found) == {**dict.fromkeys(["c2-0", "c2-1", "c2-2"], "lost"), "c2-3": "stopped", "c2-4": "stopped"}
    told = [(one.worker, one.failure.detail) for one in found.seen.records if one.failure]
    assert told == [("w1", "worker w1 (pid 1) was lost with this trial in hand")] * 3
    assert found.driver.warnings == ["worker w1 died"]
    assert worker.ended_by_driver == 1


def test_a_dead_workers_credits_pass_to_the_others_and_it_is_asked_no_more(tmp_path: Path) -> None:
    """w1 dies at its first order: w2 does the rest of both stages with both credits, w1 hears of no second stage."""
    first, second = HandWorker("w1", dies), HandWorker("w2", promptly)
    found = driven(tmp_path, [trials("c2", 4), trials("d2", 3)], first, second)
    assert len(first.orders) == 1
    assert second.orders[-1].credits == 2
    lost = [trial for trial, became in outcomes(found).items() if became == "lost"]
    assert lost == [trial.id for trial in first.orders[0].trials] == ["c2-0", "c2-1"]
    assert list(outcomes(found).values()).count("answered") == 5
    assert not found.driver.interrupted


def test_of_a_dead_workers_trials_only_those_it_had_begun_are_lost(tmp_path: Path) -> None:
    """w1 ends c4-0 and dies with more in hand, two begun in its life: c4-1 is lost, the others are asked by w2."""

    def ends_one(worker: HandWorker, order: Order) -> Batch:
        return worker.batch(worker.held[:1]) if len(worker.orders) == 1 else dies(worker, order)

    first, second = HandWorker("w1", ends_one, begun=2), HandWorker("w2", promptly)
    found = driven(tmp_path, [trials("c4", 9)], first, second)
    given = [trial.id for order in first.orders for trial in order.trials]
    assert given[:2] == ["c4-0", "c4-1"]
    assert len(given) > 2
    assert outcomes(found) == {**{f"c4-{n}": "answered" for n in range(9)}, "c4-1": "lost"}
    assert log.read_leases(tmp_path) == {(f"c4-{n}", 1) for n in range(9)}


def test_what_is_not_written_is_not_acknowledged(tmp_path: Path) -> None:
    """When a worker is given a trial, that stands on file; when a batch is acknowledged, its records do."""

    def looks(worker: HandWorker, order: Order) -> Batch:
        given = {trial.id for one in worker.orders for trial in one.trials}
        assert given == {trial for trial, _ in log.read_leases(tmp_path)}
        assert {trial for trial, _, _ in on_file(tmp_path)} == given - {trial.id for trial in worker.held}
        return promptly(worker, order)

    worker = HandWorker("w1", looks)
    driven(tmp_path, [trials("c2", 5)], worker)
    assert len(worker.orders) == 2


def test_when_all_workers_are_dead_every_trial_of_every_stage_is_accounted_for(tmp_path: Path) -> None:
    """Two workers die at once with two and one in hand: three lost, four of both stages not run; the run ends."""
    found = driven(tmp_path, [trials("c2", 4), trials("d2", 3)], HandWorker("w1", dies), HandWorker("w2", dies))
    assert outcomes(found) == {
        "c2-0": "lost", "c2-1": "lost", "c2-2": "lost", "c2-3": "stopped",
        "d2-0": "stopped", "d2-1": "stopped", "d2-2": "stopped",
    }  # fmt: skip
    assert found.seen.finishes == 1


def test_a_record_that_comes_twice_is_written_once(tmp_path: Path) -> None:
    """A batch that repeats the records of the one before adds nothing: on file, in the bill and with observers."""

    def again(worker: HandWorker, order: Order) -> Batch:
        ended = tuple(record(f"c2-{n}", cost="0", usage=Usage(input=100, output=0)) for n in range(len(worker.orders)))
        return Batch(len(worker.orders), ended)

    found = driven(tmp_path, [trials("c2", 3)], HandWorker("w1", again), tokens=1100)
    assert outcomes(found) == {"c2-0": "answered", "c2-1": "answered", "c2-2": "answered"}
    assert [one.trial for one in found.seen.records] == ["c2-0", "c2-1", "c2-2"]


def test_what_a_worker_hands_back_is_leased_again(tmp_path: Path) -> None:
    """Two trials handed back unbegun are asked for once more, and only then on file."""

    def hands_back(worker: HandWorker, order: Order) -> Batch:
        if len(worker.orders) > 1:
            return promptly(worker, order)
        worker.held, returned = [], tuple(trial.id for trial in worker.held)
        return worker.batch(returned=returned)

    worker = HandWorker("w1", hands_back)
    found = driven(tmp_path, [trials("c2", 2)], worker)
    assert [trial.id for order in worker.orders for trial in order.trials] == ["c2-0", "c2-1"] * 2
    assert outcomes(found) == {"c2-0": "answered", "c2-1": "answered"}


def test_a_stopped_run_cancels_only_after_its_grace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at 0 s, an exchange takes two: at 2 and 4 s the worker is told to stop, at 6 s, over 5, to cancel."""
    clock = HandClock()
    monkeypatch.setattr("loadrig.fleet.driver.SystemClock", lambda: clock)
    drivers: list[Driver] = []

    def slowly(worker: HandWorker, order: Order) -> Batch:
        if len(worker.orders) == 1:
            drivers[0].stop()
        clock.ns += 2_000_000_000
        ended = tuple(failed(trial.id, "cancelled") for trial in worker.held) if order.cancel else ()
        return worker.batch(records=ended)

    worker = HandWorker("w1", slowly)
    found = driven(tmp_path, [trials("c2", 2), trials("d2", 1)], worker, driving=drivers.append)
    assert [(order.stop, order.cancel) for order in worker.orders[:4]] == [
        (False, False), (True, False), (True, False), (True, True),
    ]  # fmt: skip
    assert outcomes(found) == {"c2-0": "cancelled", "c2-1": "cancelled", "d2-0": "stopped"}
    assert found.driver.interrupted


def used(tokens: int) -> HandWorker:
    """A worker that ends in each exchange what it had before it, at so many tokens a trial."""

    def an_exchange_later(worker: HandWorker, order: Order) -> Batch:
        ended = [trial for trial in worker.held if trial not in order.trials]
        usage = Usage(input=tokens, output=0)
        return worker.batch(ended, records=tuple(record(trial.id, cost="0", usage=usage) for trial in ended))

    return HandWorker("w1", an_exchange_later)


def test_a_budget_waits_for_what_is_in_hand_before_it_ends_a_run(tmp_path: Path) -> None:
    """1,000 tokens have room for one trial at 600; it uses 100, so there is room for the others, and all are asked."""
    worker = used(100)
    found = driven(tmp_path, [trials("c2", 3)], worker, tokens=1000)
    assert outcomes(found) == {"c2-0": "answered", "c2-1": "answered", "c2-2": "answered"}
    assert [len(order.trials) for order in worker.orders[:3]] == [1, 0, 2]


def test_a_budget_used_up_leaves_the_rest_not_run(tmp_path: Path) -> None:
    """At 500 a trial 1,000 tokens are two trials; the third, and the next stage, are not run for the budget."""
    found = driven(tmp_path, [trials("c2", 3), trials("d2", 1)], used(500), tokens=1000)
    assert outcomes(found) == {"c2-0": "answered", "c2-1": "answered", "c2-2": "budget", "d2-0": "budget"}
    assert not found.driver.interrupted


def test_a_run_left_at_once_still_accounts_for_its_stage(tmp_path: Path) -> None:
    """Cancelled with three of four in hand: those are lost, the fourth is not run."""
    worker = HandWorker("w1", never)
    found = driven(tmp_path, [trials("c2", 4)], worker, interrupt=True)
    assert worker.ended_by_driver == 1  # or it would go on with what it has
    assert outcomes(found) == {"c2-0": "lost", "c2-1": "lost", "c2-2": "lost", "c2-3": "stopped"}


def test_a_disk_that_is_full_ends_the_run_with_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both workers' batches meet a full disk: one LogError comes out, no group of them, and none of the drive's end."""
    append, refused = log.RunLog.append, iter([True, True])

    def full_for_a_while(self: log.RunLog, records: Iterable[Record], fragments: Mapping[str, bytes]) -> None:
        if next(refused, False):
            raise LogError("no space left")
        append(self, records, fragments)

    monkeypatch.setattr(log.RunLog, "append", full_for_a_while)
    with pytest.raises(LogError, match="no space left"):
        driven(tmp_path, [trials("c2", 2)], HandWorker("w1", promptly), HandWorker("w2", promptly))


def test_a_trial_tried_before_and_not_run_now_keeps_the_record_it_has(tmp_path: Path) -> None:
    """c2-3 was lost before and is to be asked for the second time; the run ends first: no record says that try 1, or
    none, was not run."""
    stage, four = trials("c2", 4)
    worker = HandWorker("w1", dies)
    found = driven(tmp_path, [(stage, [*four[:3], replace(four[3], try_no=2)])], worker)
    assert outcomes(found) == {"c2-0": "lost", "c2-1": "lost", "c2-2": "lost"}


def test_what_is_on_file_as_not_run_is_not_written_again(tmp_path: Path) -> None:
    """Taken up and stopped again, a trial that was not run before and is not now has its one record already."""
    worker = HandWorker("w1", dies)
    found = driven(tmp_path, [trials("c2", 5)], worker, unrun=frozenset({"c2-1", "c2-4"}))
    assert outcomes(found) == {"c2-0": "lost", "c2-1": "lost", "c2-2": "lost", "c2-3": "stopped"}
