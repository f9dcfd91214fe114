"""The processes beside the workers: what they saw in a stage is noted, and only that."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from loadrig.fleet.beside import watched, with_driver
from loadrig.fleet.handle import Handle
from loadrig.worker.probe import Vitals


@dataclass
class Hand:
    """Answers with the lags it is given, one a question."""

    answers: list[Vitals | None]
    name: str = "simulator"
    began: list[str] = field(default_factory=list)

    async def begin_stage(self) -> None:
        self.began.append("begin")

    async def vitals(self) -> Vitals | None:
        self.began.append("asked")
        return self.answers.pop(0)


def noted(*answers: Vitals | None) -> tuple[list[str], list[tuple[str, Vitals]]]:
    """What was asked of a process over a stage that ends at once, and what was noted."""
    hand, notes = Hand(list(answers)), []

    async def stage() -> None:
        async with watched([hand], lambda name, vitals: notes.append((name, vitals))):
            await asyncio.sleep(0)

    asyncio.run(stage())
    return hand.began, notes


def test_it_is_asked_once_more_when_the_stage_ends() -> None:
    """A stage too short for a period still has its samples; what came before it was forgotten at its begin."""
    assert noted(Vitals((1,))) == (["begin", "asked"], [("simulator", Vitals((1,)))])


def test_one_that_does_not_answer_leaves_no_figures() -> None:
    """Nothing is noted, and the stage goes on."""
    assert noted(None) == (["begin", "asked"], [])


def names(pids: Sequence[int]) -> list[str]:
    """The processes that are watched when the workers have these process ids."""

    async def entered() -> list[str]:
        running = asyncio.get_running_loop().create_future()
        nothing: Any = lambda *_: None  # noqa: E731 - stands for calls that nobody makes
        handles = [Handle(f"w{pid}", pid, nothing, running, nothing) for pid in pids]
        async with with_driver([Hand([])], handles) as others:
            return [one.name for one in others]

    return asyncio.run(entered())


def test_the_driver_speaks_for_itself_where_no_worker_shares_its_loop() -> None:
    """With an inline worker the worker's samples are the driver's; with workers elsewhere the driver has its own."""
    assert names([os.getpid()]) == ["simulator"]
    assert names([1, 2]) == ["simulator", "driver"]


def test_the_drivers_own_lags_are_sampled() -> None:
    """Thirty milliseconds of a stage are at least two timers of 10 ms, none of them from before it."""
    notes: list[tuple[str, Vitals]] = []

    async def stage() -> None:
        async with with_driver([], []) as others, watched(others, lambda *said: notes.append(said)):
            await asyncio.sleep(0.03)

    asyncio.run(stage())
    ((name, vitals),) = notes
    assert (name, len(vitals.lags_ns) >= 2) == ("driver", True)
