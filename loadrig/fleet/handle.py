"""The driver's end of a worker, the same for one in this loop, for a process of its own and for a Ray actor.

Rules: the exchange is the heartbeat: a worker answers ten times a second. An answer that is late may be lost, so the
same order is sent again each second, which a worker takes once; one that has not answered ten times over is given up.
Periods are counted, not the clock: a driver that was stopped for a while has no silent workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order

SILENCE_LIMIT_S = 10.0
ASK_AGAIN_S = 1.0
START_LIMIT_S = 90.0


class UnreachableError(FleetError):
    """The worker is given up, and may be alive all the same: what it has in hand may be sent."""


class AnswerLostError(UnreachableError):
    """Whether the worker had the order is not known. To be asked again."""


@dataclass(frozen=True, slots=True)
class Handle:
    """`call` is one exchange; `running` ends only when the worker does, with the error that ended it; `end` makes sure
    that a worker given up sends nothing more, and returns how many trials it has begun in its life, None: unknown.
    `host`: the address of its machine, where that may be another one."""

    name: str
    pid: int
    call: Callable[[Order], Coroutine[Any, Any, Batch]]
    running: asyncio.Task[None]
    end: Callable[[], int | None]
    host: str | None = None

    def __str__(self) -> str:
        place = "" if self.host is None else f" on {self.host}"
        return f"worker {self.name} (pid {self.pid}{place})"

    async def exchange(self, order: Order) -> Batch:
        """The worker's batch. Raises `FleetError` when the worker is gone, broke down or is silent."""
        periods = math.ceil(SILENCE_LIMIT_S / ASK_AGAIN_S)
        askings: set[asyncio.Task[Batch]] = set()
        try:
            for _ in range(periods):
                askings.add(asyncio.create_task(self.call(order)))
                batch = await self._heard(askings, SILENCE_LIMIT_S / periods)
                if batch is not None:
                    return batch
            raise UnreachableError(f"{self} has not answered for {SILENCE_LIMIT_S:g} s")
        finally:
            for asking in askings:
                asking.cancel()

    async def _heard(self, askings: set[asyncio.Task[Batch]], within_s: float) -> Batch | None:
        """The first answer; None when all that was asked is silent or lost for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while True:
                    done, _ = await asyncio.wait({*askings, self.running}, return_when=asyncio.FIRST_COMPLETED)
                    if self.running in done:
                        await self.running
                        raise FleetError(f"{self} ended before the run did")
                    askings -= done
                    for asking in done:
                        with contextlib.suppress(AnswerLostError):
                            return asking.result()
        return None


async def wait_ready(
    ready: Coroutine[Any, Any, Any], running: asyncio.Task[None], *, limit_s: float = START_LIMIT_S
) -> Any:
    """What `ready` gives, or the error of a worker that ended first. Raises `FleetError` after `limit_s` seconds."""
    waiting = asyncio.create_task(ready)
    try:
        done, _ = await asyncio.wait({waiting, running}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            raise FleetError(f"a worker was not ready within {limit_s:g} s")
        if running in done:
            running.result()
            raise FleetError("a worker ended before it was ready")
        return waiting.result()
    finally:
        waiting.cancel()
