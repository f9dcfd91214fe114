"""Workers as Ray actors, one asyncio loop each. The one home of Ray.

Rules: an actor is a thin wrapper round `Worker`; one exchange a worker is outstanding at a time, never a call a trial;
no actor is restarted and no call repeated by Ray (a request must not be sent twice behind our back). On one machine
Ray takes a token of the run's own, shows no dashboard and sends no usage statistics.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from loadrig.fleet.cpus import compare
from loadrig.fleet.handle import AnswerLostError, Handle, wait_ready
from loadrig.words.errors import FleetError, InputError, described
from loadrig.worker.messages import Batch, Order
from loadrig.worker.setup import Setup
from loadrig.worker.worker import Worker

START_LIMIT_S = 90.0
CLOSE_LIMIT_S = 5.0
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_METRICS_COLLECTION": "1",
    "RAY_raylet_start_wait_time_s": "90",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


class Actor:
    """The worker inside its Ray process. `library` are the files of the run's library: this may be another machine."""

    def __init__(self, setup: Setup, library: Mapping[str, bytes]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="loadrig-")
        for name, content in library.items():
            (Path(self._folder.name) / name).write_bytes(content)
        self._worker = Worker(replace(setup, library=Path(self._folder.name)))

    async def run(self) -> None:
        with self._folder:
            await self._worker.run()

    async def wait_ready(self) -> int:
        """The process id, once trials can be taken."""
        await self._worker.wait_ready()
        return os.getpid()

    async def exchange(self, order: Order) -> Batch:
        return await self._worker.exchange(order)

    async def close(self) -> None:
        self._worker.close()


def start(cpus_needed: float) -> None:
    """Starts Ray on this machine, or joins the cluster that RAY_ADDRESS names. Blocks for about seven seconds.

    Raises `InputError` when the cluster has fewer CPUs than the workers ask for.
    """
    here = not os.environ.get("RAY_ADDRESS")
    # A token of this run's own: Ray's processes listen on every address, and a token file of another cluster must not
    # be picked up. On a cluster that was there before, its own environment says how to join it.
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)} if here else {}
    for name, value in {**ENVIRONMENT, **token}.items():
        os.environ.setdefault(name, value)
    import ray  # noqa: PLC0415 - a run without Ray does not pay for its import

    options: dict[str, Any] = {"include_dashboard": False} if here else {}
    ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    found = ray.cluster_resources().get("CPU", 0.0)  # type: ignore[no-untyped-call]
    try:
        compare(cpus_needed, found)
    except InputError:
        ray.shutdown()
        raise


def shut_down() -> None:
    """Ends what `start` began; harmless when it did not."""
    import ray  # noqa: PLC0415

    ray.shutdown()


@asynccontextmanager
async def ray_fleet(setups: Sequence[Setup], *, cpus_per_worker: float) -> AsyncIterator[list[Handle]]:
    """One actor a setup, all started without waiting in between; `start` must have been called."""
    import ray  # noqa: PLC0415

    remote: Any = ray.remote(Actor)
    kind = remote.options(
        num_cpus=cpus_per_worker, max_restarts=0, max_task_retries=0, max_concurrency=16, scheduling_strategy="SPREAD"
    )
    library = ray.put({file.name: file.read_bytes() for file in setups[0].library.iterdir()})
    actors = [kind.remote(setup, library) for setup in setups]
    runnings = [
        asyncio.create_task(_calling(actor.run.remote, setup)) for actor, setup in zip(actors, setups, strict=True)
    ]
    try:
        handles = []
        for actor, setup, running in zip(actors, setups, runnings, strict=True):
            pid = await wait_ready(_calling(actor.wait_ready.remote, setup), running, limit_s=START_LIMIT_S)
            handles.append(Handle(setup.worker, pid, _exchange_of(actor, setup), running, partial(ray.kill, actor)))
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
    def exchange(order: Order) -> Coroutine[Any, Any, Batch]:
        return _calling(actor.exchange.remote, setup, order)

    return exchange


async def _calling(method: Any, setup: Setup, *arguments: object) -> Any:
    """Awaits one remote call, Ray's errors translated to `FleetError`."""
    import ray.exceptions  # noqa: PLC0415

    try:
        return await method(*arguments)
    except ray.exceptions.ActorUnavailableError as error:
        raise AnswerLostError(f"worker {setup.worker} cannot be reached: {described(error)}") from error
    except ray.exceptions.RayActorError as error:
        reason = str(error).strip().splitlines()[0]
        raise FleetError(f"worker {setup.worker} died: {reason}") from error
    except ray.exceptions.RayTaskError as error:
        raise FleetError(f"worker {setup.worker} broke down: {described(error.cause or error)}") from error
    except ray.exceptions.RayError as error:
        raise FleetError(f"worker {setup.worker} cannot be reached: {described(error)}") from error
