"""A worker in open loop: it sleeps to the instant, begins nothing before it, and nothing after the stage's end."""

from __future__ import annotations

import time
from pathlib import Path

from msgspec.structs import replace
from open_worker import exchanged, records, trials, working
from scripted_server import Script, Server
from stream_events import reply

from loadrig.fleet.handle import Handle
from loadrig.words.record import Record
from loadrig.words.trial import Trial
from loadrig.worker.messages import Batch, Order

MS = 1_000_000
QUICK = Script([(20, reply())])


def due(*at_ms: int) -> tuple[Trial, ...]:
    """One trial at each, so many milliseconds after the stage's begin."""
    asked = trials(len(at_ms), stage="r1")
    return tuple(replace(trial, due_ns=ms * MS) for trial, ms in zip(asked, at_ms, strict=True))


def paced(
    folder: Path, planned: tuple[Trial, ...], *, slots: int = 8, end_ms: int = 60_000, begin_ms: int = 50
) -> tuple[int, list[Record], list[str]]:
    """The begin on the worker's clock, the records in the order of their trials, and what was handed back."""

    async def work(handle: Handle, server: Server) -> tuple[int, list[Batch]]:
        begin_ns = time.perf_counter_ns() + begin_ms * MS
        order = Order("r1", slots, planned, more=False, begin_ns=begin_ns, end_ns=begin_ns + end_ms * MS)

        def all_told(batches: list[Batch]) -> bool:
            return len(records(batches)) + sum(len(batch.returned) for batch in batches) == len(planned)

        return begin_ns, await exchanged(handle, order, all_told)

    begin_ns, batches = working(folder, QUICK, work)
    found = sorted(records(batches), key=lambda record: record.trial)
    return begin_ns, found, [trial for batch in batches for trial in batch.returned]


def test_a_trial_begins_at_its_instant_and_never_before(tmp_path: Path) -> None:
    """Due 0, 40, 40 and 130 ms after the begin: so recorded, and begun within 30 ms of it."""
    begin_ns, found, _ = paced(tmp_path, due(0, 40, 40, 130))
    assert [(record.due_ns or 0) - begin_ns for record in found] == [0, 40 * MS, 40 * MS, 130 * MS]
    assert all(0 <= (record.dispatch_delay_ns or -1) < 30 * MS for record in found)


def test_trials_are_begun_in_the_order_they_are_due(tmp_path: Path) -> None:
    """Leased as 90, 10, 50 ms, as when a dead worker's trials come late: begun as 10, 50, 90."""
    _, (third, first, second), _ = paced(tmp_path, due(90, 10, 50))
    assert (first.begin_ns or 0) < (second.begin_ns or 0) < (third.begin_ns or 0)


def test_a_trial_that_finds_no_slot_is_sent_late_and_its_delay_counted(tmp_path: Path) -> None:
    """Three due at once, one slot, 20 ms each: sent 0, 20 and 40 ms late; scheduled is the delay and the service."""
    _, found, _ = paced(tmp_path, due(0, 0, 0), slots=1)
    delays_ms = [round((record.dispatch_delay_ns or 0) / MS) for record in found]
    assert delays_ms[0] < 18 <= delays_ms[1] < 38 <= delays_ms[2]
    assert all((r.scheduled_ns or 0) == (r.dispatch_delay_ns or 0) + (r.service_ns or 0) for r in found)


def test_what_waits_at_the_end_of_the_stage_is_handed_back_unsent(tmp_path: Path) -> None:
    """Three due at once, one slot, an end after 10 ms: one is answered, two come back."""
    _, found, returned = paced(tmp_path, due(0, 0, 0), slots=1, end_ms=10)
    assert [record.trial for record in found] == ["t1"]
    assert returned == ["t2", "t3"]


def test_a_late_lease_is_sent_at_once_and_its_delay_counted(tmp_path: Path) -> None:
    """A begin 100 ms ago: the trial due then is begun now, 100 ms late or more, the one due at 200 ms is not late."""
    _, (late, in_time), _ = paced(tmp_path, due(0, 200), begin_ms=-100)
    assert (late.dispatch_delay_ns or 0) >= 100 * MS
    assert 0 <= (in_time.dispatch_delay_ns or -1) < 30 * MS


def test_open_loop_knows_no_tail(tmp_path: Path) -> None:
    """The last trials of a stage are due as any other: measured, though fewer are in flight than may be."""
    _, found, _ = paced(tmp_path, due(0, 0))
    assert {record.phase for record in found} == {"measured"}


def test_an_exchange_waits_though_slots_are_free(tmp_path: Path) -> None:
    """With more to come and nothing in flight an open loop's exchange lasts its 50 ms: it is not run dry."""

    async def work(handle: Handle, server: Server) -> float:
        began = time.perf_counter()
        await handle.exchange(Order("r1", 8, wait_s=0.05, begin_ns=time.perf_counter_ns()))
        return time.perf_counter() - began

    assert working(tmp_path, QUICK, work) >= 0.045
