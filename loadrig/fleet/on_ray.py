"""Workers as Ray actors, one asyncio loop each, spread over the nodes there are.

Rules: an actor is a thin wrapper round `Worker`; one exchange a worker is outstanding at a time, never a call a trial;
no actor is restarted and no call repeated by Ray (a request must not be sent twice behind our back). Corpus and indexes
go to each node once, and the workers of a node share them. Ray may say late, or never, that a node is gone: the
exchange, which is the heartbeat, finds that out.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from loadrig.fleet import frames
from loadrig.fleet.handle import AnswerLostError, Handle, UnreachableError, wait_ready
from loadrig.fleet.node_folder import shared
from loadrig.words.errors import FleetError, described
from loadrig.worker.messages import Batch, Order
from loadrig.worker.setup import Setup
from loadrig.worker.worker import Worker

CLOSE_LIMIT_S = 5.0
ABANDONED_S = (
    60.0  # a node that is cut off, or whose raylet died, is not told to end its workers: they do it themselves
)
_PROCESS_DIED = "worker process has died"


@dataclass(frozen=True, slots=True)
class Shipped:
    """The run's library on its way to the nodes: `files` are references into Ray's object store, by file name; fetched
    once a node. `name` is this library's alone."""

    name: str
    files: Mapping[str, Any]

    def unpack(self, folder: Path) -> None:
        """Writes the files into `folder`, out of memory that is shared with the object store."""
        import ray  # noqa: PLC0415

        for name, content in self.files.items():
            ray.get(content).tofile(folder / name)


def shipped(library: Path) -> Shipped:
    """The files of a folder, put into the object store."""
    import ray  # noqa: PLC0415

    files = {file.name: ray.put(np.fromfile(file, np.uint8)) for file in library.iterdir()}
    return Shipped(secrets.token_hex(8), files)


class Actor:
    """The worker inside its Ray process, on whichever node that is."""

    def __init__(self, setup: Setup, library: Shipped) -> None:
        import ray  # noqa: PLC0415

        self._host: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        self._node_folder = ExitStack()
        node = ray.get_runtime_context().get_node_id()
        folder = self._node_folder.enter_context(shared(f"{library.name}-{node}", library.unpack))
        self._worker = Worker(replace(setup, library=folder))
        self._patience: asyncio.TimerHandle | None = None
        self._is_abandoned = False

    async def run(self) -> None:
        with self._node_folder:
            await self._worker.run()
        if self._is_abandoned:
            os._exit(1)

    async def wait_ready(self) -> tuple[int, str]:
        """Process id and address, once trials can be taken."""
        await self._worker.wait_ready()
        return os.getpid(), self._host

    async def exchange(self, order: bytes) -> bytes:
        """An order and its batch as `frames` packs them: Ray's own pickling costs both sides several times as much."""
        if self._patience is not None:
            self._patience.cancel()
        self._patience = asyncio.get_running_loop().call_later(ABANDONED_S, self._abandon)
        return frames.packed(await self._worker.exchange(frames.order_decoder.decode(order)))

    def _abandon(self) -> None:
        self._is_abandoned = True
        self._worker.close()

    async def close(self) -> None:
        self._worker.close()


@asynccontextmanager
async def ray_fleet(setups: Sequence[Setup], *, cpus_per_worker: float) -> AsyncIterator[list[Handle]]:
    """One actor a setup, all started without waiting in between; `cluster.start` must have been called."""
    import ray  # noqa: PLC0415

    remote: Any = ray.remote(Actor)
    kind = remote.options(
        num_cpus=cpus_per_worker, max_restarts=0, max_task_retries=0, max_concurrency=16, scheduling_strategy="SPREAD"
    )
    here = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    library = shipped(setups[0].library)
    actors = [kind.remote(setup, library) for setup in setups]
    runnings = [
        asyncio.create_task(_calling(actor.run.remote, setup)) for actor, setup in zip(actors, setups, strict=True)
    ]
    try:
        handles = []
        for actor, setup, running in zip(actors, setups, runnings, strict=True):
            pid, host = await wait_ready(_calling(actor.wait_ready.remote, setup), running)
            end, elsewhere = partial(ray.kill, actor), None if host == here else host
            handles.append(Handle(setup.worker, pid, _exchange_of(actor, setup), running, end, elsewhere))
        del library  # every node has it on file now
        yield handles
    finally:
        for actor in actors:
            actor.close.remote()
        await asyncio.wait(runnings, timeout=CLOSE_LIMIT_S)
        for running in runnings:
            running.cancel()
        await asyncio.gather(*runnings, return_exceptions=True)  # what ended a worker was told in its exchange
        for actor in actors:
            ray.kill(actor)


def _exchange_of(actor: Any, setup: Setup) -> Callable[[Order], Coroutine[Any, Any, Batch]]:
    async def exchange(order: Order) -> Batch:
        answer: bytes = await _calling(actor.exchange.remote, setup, frames.packed(order))
        return frames.batch_decoder.decode(answer)

    return exchange


async def _calling(method: Any, setup: Setup, *arguments: object) -> Any:
    """Awaits one remote call, Ray's errors translated to `FleetError`."""
    import ray.exceptions  # noqa: PLC0415

    try:
        return await method(*arguments)
    except ray.exceptions.ActorUnavailableError as error:
        raise AnswerLostError(f"worker {setup.worker} cannot be reached: {described(error)}") from error
    except ray.exceptions.RayActorError as error:
        reason = " ".join(str(error).split())
        kind = FleetError if _PROCESS_DIED in reason else UnreachableError  # a node may be gone for us alone
        raise kind(f"worker {setup.worker} died: {reason[:300]}") from error
    except ray.exceptions.RayTaskError as error:
        raise FleetError(f"worker {setup.worker} broke down: {described(error.cause or error)}") from error
    except ray.exceptions.RayError as error:
        raise FleetError(f"worker {setup.worker} cannot be reached: {described(error)}") from error
