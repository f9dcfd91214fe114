"""Which workers a run has: one in the driver's own loop, plain processes of this machine, or Ray actors anywhere.

Rules: more workers than there are CPUs for is an error before anything is started; Ray is started in a thread, while
the driver reads the corpus, for it takes longest.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType

from loadrig.fleet import cluster, on_ray
from loadrig.fleet.cpus import compare
from loadrig.fleet.handle import Handle
from loadrig.fleet.inline import inline_fleet
from loadrig.fleet.processes import process_fleet
from loadrig.live.progress import Progress
from loadrig.words import settings
from loadrig.words.errors import InputError
from loadrig.words.settings import LoadSettings
from loadrig.worker.setup import Setup


def chosen(load: LoadSettings, *, inline: bool, has_cluster: bool) -> settings.Fleet:
    """What the plan says; else Ray on a cluster that is there, processes on one machine, neither for one worker.

    Raises `InputError` for more than one worker inline.
    """
    if inline:
        return "inline"
    if load.fleet == "inline" and load.workers > 1:
        remedy = 'one worker fits into the driver\'s process: set workers = 1, or fleet = "process" or "ray"'
        raise InputError(f"{load.workers} workers inline", remedy=remedy)
    if load.fleet is not None:
        return load.fleet
    if load.workers == 1:
        return "inline"
    return "ray" if has_cluster else "process"


class Fleet:
    """The workers of a run. `async with` it first of all, then, when all else is ready, `of` opens them."""

    def __init__(self, load: LoadSettings, progress: Progress, *, inline: bool) -> None:
        self._has_cluster = bool(os.environ.get("RAY_ADDRESS"))
        self.kind = chosen(load, inline=inline, has_cluster=self._has_cluster)
        self.workers = 1 if self.kind == "inline" else load.workers
        self._cpus = load.cpus_per_worker
        self._progress = progress
        self._starting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Fleet:
        on_cluster = self.kind == "ray" and self._has_cluster  # which knows itself how many CPUs it has
        if self.kind != "inline" and not on_cluster:
            compare(self.workers * self._cpus, os.cpu_count() or 1)
        if self.kind == "ray":
            self._progress.notice("starting Ray")
            self._starting = asyncio.create_task(asyncio.to_thread(cluster.start, self.workers, self._cpus))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._starting is not None:
            await asyncio.wait({self._starting})
            if not self._starting.exception():
                await asyncio.to_thread(cluster.shut_down)

    @asynccontextmanager
    async def of(self, setups: Sequence[Setup]) -> AsyncIterator[list[Handle]]:
        """The workers, one a setup, ready to take trials; closed on leaving."""
        if self._starting is not None:
            self._progress.notice("waiting for Ray")
            await self._starting
        self._progress.notice(f"starting {len(setups)} worker{'s' * (len(setups) > 1)}")
        match self.kind:
            case "inline":
                fleet = inline_fleet(setups[0])
            case "process":
                fleet = process_fleet(setups)
            case "ray":
                fleet = on_ray.ray_fleet(setups, cpus_per_worker=self._cpus)
        async with fleet as handles:
            yield handles
