"""The processes of the rig beside its workers, asked four times a second what they saw of themselves: an embedded
simulator on the same machine, and the driver where it has a loop of its own.

Rules: what a process saw before a stage began is not the stage's; it is asked once more when the stage ends; one that
does not answer costs the run nothing and has no figures.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from loadrig.bound import DRIVER
from loadrig.fleet.handle import Handle
from loadrig.worker.probe import Probe, Vitals

PERIOD_S = 0.25


class Beside(Protocol):
    """A process that tells what it saw of itself."""

    @property
    def name(self) -> str:
        """As it stands in the manifest."""
        ...

    async def begin_stage(self) -> None:
        """Forgets what it saw until now."""
        ...

    async def vitals(self) -> Vitals | None:
        """What it saw since it was last asked; None when it does not answer."""
        ...


class _Driver:
    """This process, where no worker runs in it."""

    name = DRIVER

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    async def begin_stage(self) -> None:
        self._probe.begin_stage()

    async def vitals(self) -> Vitals:
        return self._probe.take()


@asynccontextmanager
async def with_driver(others: Sequence[Beside], handles: Sequence[Handle]) -> AsyncIterator[list[Beside]]:
    """The others, and the driver unless a worker shares its loop and speaks for it."""
    if any(handle.pid == os.getpid() for handle in handles):
        yield list(others)
        return
    probe = Probe()
    running = asyncio.create_task(probe.run())  # owned here: ended below
    try:
        yield [*others, _Driver(probe)]
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


@asynccontextmanager
async def watched(beside: Sequence[Beside], note: Callable[[str, Vitals], None]) -> AsyncIterator[None]:
    """While open, a stage: `note` is told of each process by its name."""
    await asyncio.gather(*(one.begin_stage() for one in beside))
    over = asyncio.Event()
    asking = [asyncio.create_task(_ask(one, note, over)) for one in beside]  # owned here: awaited below
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*asking)


async def _ask(one: Beside, note: Callable[[str, Vitals], None], over: asyncio.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PERIOD_S):
                await over.wait()
        vitals = await one.vitals()
        if vitals is None:
            return
        note(one.name, vitals)
