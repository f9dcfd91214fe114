"""One worker in the driver's own loop: no Ray, the same worker. The default for one worker."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from loadrig.fleet.handle import Handle, wait_ready
from loadrig.words.errors import FleetError, described
from loadrig.worker.setup import Setup
from loadrig.worker.worker import Worker


@asynccontextmanager
async def inline_fleet(setup: Setup) -> AsyncIterator[list[Handle]]:
    """A fleet of one, ready to take trials; on leaving, everything it opened is closed."""
    begun = itertools.count()
    worker = Worker(setup, begins=lambda: next(begun))

    def end() -> int:
        worker.close()
        return next(begun)

    running = asyncio.create_task(_run(worker))  # owned here: awaited below, whatever happens
    try:
        await wait_ready(worker.wait_ready(), running)
        yield [Handle(setup.worker, os.getpid(), worker.exchange, running, end)]
    finally:
        worker.close()
        await asyncio.wait({running})


async def _run(worker: Worker) -> None:
    try:
        await worker.run()
    except Exception as error:  # whatever broke it, the driver goes on to write its report
        raise FleetError(f"the worker broke down: {described(error)}") from error
