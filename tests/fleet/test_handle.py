"""The driver's end of a worker: silence, and an end that comes too early, are told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from asking import run

from loadrig.fleet.handle import AnswerLostError, Handle, UnreachableError, wait_ready
from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order


async def for_ever(order: Order | None = None) -> Any:
    await asyncio.Event().wait()


async def breaks_down() -> None:
    raise FleetError("out of memory")


async def ends() -> None:
    """A worker that is over though nobody closed it."""


def exchanged(
    call: Callable[[Order], Coroutine[Any, Any, Batch]], running: Callable[[], Coroutine[Any, Any, None]]
) -> Batch:
    """One exchange with a worker that answers by `call` while `running` lasts."""

    async def go() -> Batch:
        worker = asyncio.create_task(running())
        try:
            async with asyncio.timeout(5):
                return await Handle("w1", 77, call, worker, lambda: None).exchange(Order("c1", 1))
        finally:
            worker.cancel()

    return run(go())


def test_a_silent_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exchange that is not answered within the limit is an error with the worker's name and pid, which says that it
    may be alive all the same."""
    monkeypatch.setattr("loadrig.fleet.handle.SILENCE_LIMIT_S", 0.05)
    with pytest.raises(UnreachableError, match=r"w1 \(pid 77\) has not answered for 0.05 s"):
        exchanged(for_ever, for_ever)


@pytest.mark.parametrize("first", ["silent", "lost"])
def test_a_lost_answer_is_asked_for_again(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    """Silence, and word that the worker cannot be reached, are followed by the same order, whose answer counts."""
    monkeypatch.setattr("loadrig.fleet.handle.ASK_AGAIN_S", 0.05)
    asked: list[Order] = []

    async def second_time(order: Order) -> Batch:
        asked.append(order)
        if len(asked) == 1 and first == "silent":
            await for_ever()
        if len(asked) == 1:
            raise AnswerLostError("the network is gone")
        return Batch(7, ())

    assert exchanged(second_time, for_ever).number == 7
    assert asked == [Order("c1", 1)] * 2


def test_a_late_answer_counts_as_long_as_the_worker_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two questions is answered after the second was asked: it is the answer."""
    monkeypatch.setattr("loadrig.fleet.handle.ASK_AGAIN_S", 0.05)
    asked = asyncio.Event()

    async def first_of_two(order: Order) -> Batch:
        if not asked.is_set():
            asked.set()
            await asyncio.sleep(0.075)
            return Batch(1, ())
        return await for_ever()  # type: ignore[no-any-return]

    assert exchanged(first_of_two, for_ever).number == 1


def test_a_worker_that_broke_down_tells_why() -> None:
    """The error that ended the worker comes out of the exchange that waits for it."""
    with pytest.raises(FleetError, match="out of memory"):
        exchanged(for_ever, breaks_down)


def test_a_worker_that_ends_before_the_run_is_a_dead_one() -> None:
    """Without an error of its own, the exchange says so."""
    with pytest.raises(FleetError, match="ended before the run did"):
        exchanged(for_ever, ends)


def test_an_answer_in_time_is_given_on() -> None:
    """The batch comes through as it is."""

    async def answers(order: Order) -> Batch:
        return Batch(7, ())

    assert exchanged(answers, for_ever).number == 7


@pytest.mark.parametrize(
    ("running", "told"), [(breaks_down, "out of memory"), (ends, "before it was ready"), (for_ever, "within 0.05 s")]
)
def test_a_worker_that_is_never_ready_is_a_fleet_error(
    running: Callable[[], Coroutine[Any, Any, None]], told: str
) -> None:
    """Whether it broke down, ended or hangs, starting fails with the reason."""

    async def go() -> None:
        worker = asyncio.create_task(running())
        try:
            async with asyncio.timeout(5):
                await wait_ready(for_ever(), worker, limit_s=0.05)
        finally:
            worker.cancel()

    with pytest.raises(FleetError, match=told):
        run(go())
