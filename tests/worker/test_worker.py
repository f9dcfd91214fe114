"""A worker's side of the exchange: slots, leases, batches, and how it ends."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from asking import until
from open_worker import exchanged, records, run_dry, trials, working
from scripted_server import Script, Server
from stream_events import blk, delta, end, reply, start, stop, txt

from loadrig.fleet.handle import Handle
from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order

FIRST, REST = start() + blk("text"), txt("yes") + end() + delta("end_turn") + stop()
SLOW = Script([(0, FIRST), (40, REST)])
QUICK = Script([(0, reply())])
ENDLESS = Script([(0, FIRST)], end="hold")
ALL_IN = Order("c2", 2, trials(5), more=False)


def most_at_once(server: Server) -> int:
    """The largest number of requests between their first byte of reply and their last."""
    begun, ended = ([stamps[place] for stamps in server.sent_ns] for place in (0, -1))
    return max(sum(a <= at < b for a, b in zip(begun, ended, strict=True)) for at in begun)


def test_all_credits_are_used_and_never_more(tmp_path: Path) -> None:
    """Five trials at two credits: two in flight at once, at the target and by the worker's word, and all are asked."""

    async def work(handle: Handle, server: Server) -> tuple[list[Batch], int]:
        return await run_dry(handle, ALL_IN), most_at_once(server)

    batches, at_target = working(tmp_path, SLOW, work)
    assert at_target == max(batch.in_flight for batch in batches) == 2
    assert {batch.credits for batch in batches} == {2}
    assert Counter(record.trial for record in records(batches)) == Counter(["t1", "t2", "t3", "t4", "t5"])


@pytest.mark.parametrize(
    ("order", "phases"),
    [
        (ALL_IN, ["measured"] * 4 + ["tail"]),
        (Order("c2", 2, trials(5), more=True), ["measured"] * 5),
        (Order("c2", 2, trials(5, phase="warmup"), more=False), ["warmup"] * 5),
        (Order("c2", 9, trials(5), more=False), ["tail"] * 5),
    ],
)
def test_a_trial_that_ends_below_the_credits_is_tail(tmp_path: Path, order: Order, phases: list[str]) -> None:
    """Of five at two credits only the last ends alone. None is tail while more may come, or in the warm-up; at nine
    credits all are."""

    async def work(handle: Handle, server: Server) -> list[Batch]:
        return await run_dry(handle, order)

    assert [record.phase for record in records(working(tmp_path, SLOW, work))] == phases


def test_stop_hands_back_the_unbegun_and_lets_the_others_end(tmp_path: Path) -> None:
    """Two of five in flight when it is told to stop: t3, t4 and t5 come back, t1 and t2 are answered, none begins."""

    async def work(handle: Handle, server: Server) -> tuple[list[Batch], list[Batch], int]:
        before = await exchanged(handle, ALL_IN, lambda batches: batches[-1].in_flight == 2)
        stopping = Order("c2", 2, ack=before[-1].number, stop=True)
        return (
            before,
            await exchanged(handle, stopping, lambda batches: len(records(batches)) == 2),
            len(server.requests),
        )

    before, after, asked = working(tmp_path, Script([(0, FIRST), (300, REST)]), work)
    assert [batch.waiting for batch in before] == [3]
    assert [one for batch in after for one in batch.returned] == ["t3", "t4", "t5"]
    assert {(record.trial, record.outcome) for record in records(after)} == {("t1", "answered"), ("t2", "answered")}
    assert asked == 2


def test_cancel_ends_what_is_in_flight_with_a_record(tmp_path: Path) -> None:
    """Two in flight for ever: both are failed/cancelled at once, the other three come back."""

    async def work(handle: Handle, server: Server) -> list[Batch]:
        (first,) = await exchanged(handle, ALL_IN, lambda batches: True)
        await until(lambda: len(server.sent_ns) == 2)
        cancelling = Order("c2", 2, ack=first.number, stop=True, cancel=True)
        return await exchanged(handle, cancelling, lambda batches: len(records(batches)) == 2)

    batches = working(tmp_path, ENDLESS, work)
    assert batches[0].returned == ("t3", "t4", "t5")
    became = {(record.trial, record.outcome, record.reason) for record in records(batches)}
    assert became == {("t1", "failed", "cancelled"), ("t2", "failed", "cancelled")}


def test_a_fragment_crosses_once_a_worker(tmp_path: Path) -> None:
    """The second trial of a question names the same fragments; they came with the first, and none comes again."""

    async def work(handle: Handle, server: Server) -> tuple[list[Batch], list[Batch]]:
        first = await run_dry(handle, Order("c2", 1, trials(1)))
        again = Order("c2", 1, trials(1, id="t9"), ack=first[-1].number)
        return first, await run_dry(handle, again)

    first, second = working(tmp_path, QUICK, work)
    sent = [list(batch.fragments) for batch in first if batch.fragments]
    named = [set(record.turns[0].prompt) for record in records(first + second)]
    assert len(sent) == 1
    assert named == [set(sent[0])] * 2
    assert [batch.fragments for batch in second if batch.fragments] == []


def test_a_batch_that_was_not_acknowledged_comes_again(tmp_path: Path) -> None:
    """Asked as though its batch had been lost, the worker gives the same one, and begins nothing twice."""

    async def work(handle: Handle, server: Server) -> tuple[list[Batch], int]:
        order = Order("c2", 1, trials(1), more=False, wait_s=60)
        batches = [await handle.exchange(order), await handle.exchange(order)]
        batches.append(await handle.exchange(Order("c2", 1, more=False, ack=batches[0].number, wait_s=0)))
        return batches, len(server.requests)

    (first, again, next_one), asked = working(tmp_path, QUICK, work)
    assert [record.trial for record in first.records] == ["t1"]
    assert again == first
    assert (next_one.number, next_one.records, next_one.fragments) == (first.number + 1, (), {})
    assert asked == 1


def test_an_order_asked_again_before_its_answer_is_taken_once(tmp_path: Path) -> None:
    """Asked twice at the same time, because an answer was late: both get the one batch, and the trial begins once."""

    async def work(handle: Handle, server: Server) -> tuple[Batch, Batch, int]:
        order = Order("c2", 1, trials(1), more=False, wait_s=60)
        first, second = await asyncio.gather(handle.exchange(order), handle.exchange(order))
        return first, second, len(server.requests)

    first, second, asked = working(tmp_path, QUICK, work)
    assert [record.trial for record in first.records] == ["t1"]
    assert (first, asked) == (second, 1)


def test_a_slot_that_falls_free_is_filled_without_the_driver(tmp_path: Path) -> None:
    """Two trials at one credit come back from a single exchange: the second began when the first had ended."""

    async def work(handle: Handle, server: Server) -> Batch:
        return await handle.exchange(Order("c2", 1, trials(2), more=False, wait_s=60))

    assert [record.trial for record in working(tmp_path, QUICK, work).records] == ["t1", "t2"]


def test_an_exchange_ends_as_soon_as_a_slot_is_free(tmp_path: Path) -> None:
    """With more to lease the driver is told at once that the worker has run dry, not after a minute."""

    async def work(handle: Handle, server: Server) -> Batch:
        return await handle.exchange(Order("c2", 1, trials(1), wait_s=60))

    batch = working(tmp_path, QUICK, work)
    assert (batch.in_flight, batch.waiting) == (0, 0)


def test_what_a_worker_saw_before_a_stage_is_not_the_stages(tmp_path: Path) -> None:
    """Half a second idle before each of two stages is fifty samples of a loop that had nothing to do: with them a
    stage's lag p99 would be that of an idle loop. They are not told; what comes in a stage, again half a second, is."""

    async def work(handle: Handle, server: Server) -> list[int]:
        await asyncio.sleep(0.5)
        first = await handle.exchange(Order("c2", 0, wait_s=0))
        await asyncio.sleep(0.5)
        same = await handle.exchange(Order("c2", 0, ack=first.number, wait_s=0))
        await asyncio.sleep(0.5)
        second = await handle.exchange(Order("c4", 0, ack=same.number, wait_s=0))
        return [len(batch.vitals.lags_ns) for batch in (first, same, second)]

    first, same, second = working(tmp_path, QUICK, work)
    assert (first < 20, same > 40, second < 20) == (True, True, True)


def test_a_worker_whose_search_process_dies_is_a_dead_worker(tmp_path: Path) -> None:
    """kill -9 of the search process: the next search ends the worker with a FleetError that says so."""
    others = {child.pid for child in multiprocessing.active_children()}

    async def work(handle: Handle, server: Server) -> None:
        (searching,) = (child for child in multiprocessing.active_children() if child.pid not in others)
        assert searching.pid is not None
        os.kill(searching.pid, signal.SIGKILL)
        await exchanged(handle, Order("c2", 1, trials(1, arm="rag-bm25-k1")), lambda batches: bool(records(batches)))

    with pytest.raises(FleetError, match="the search process of this worker died"):
        working(tmp_path, QUICK, work)
