"""The driver's end of a worker, the same for a worker in this loop and for a Ray actor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order

SILENCE_LIMIT_S = 30.0  # an exchange takes a tenth of a second


@dataclass(frozen=True, slots=True)
class Handle:
    """`call` is one exchange; `running` ends only when the worker does, with the error that ended it; `end` makes sure
    that a worker given up sends nothing more."""

    name: str
    pid: int
    call: Callable[[Order], Coroutine[Any, Any, Batch]]
    running: asyncio.Task[None]
    end: Callable[[], None]

    async def exchange(self, order: Order) -> Batch:
        """The worker's batch. Raises `FleetError` when the worker is gone or broke down."""
        asking = asyncio.create_task(self.call(order))
        try:
            done, _ = await asyncio.wait(
                {asking, self.running}, timeout=SILENCE_LIMIT_S, return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                raise FleetError(f"worker {self.name} (pid {self.pid}) has not answered for {SILENCE_LIMIT_S:g} s")
            if not self.running.done():
                return asking.result()
            await self.running
            raise FleetError(f"worker {self.name} (pid {self.pid}) ended before the run did")
        finally:
            asking.cancel()


async def wait_ready(ready: Coroutine[Any, Any, Any], running: asyncio.Task[None], *, limit_s: float) -> Any:
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
