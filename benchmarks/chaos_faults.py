"""The faults of the chaos test. Each is played at a running driver, its workers, its disk or its target."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import signal
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from chaos_clock import Wall
from chaos_target import Target

SILENCE_LIMIT_S = 2.0  # of the driver in these runs; as shipped: 10
Fault = Callable[["Scene"], Awaitable[None]]


@dataclass
class Scene:
    """What a fault can get at. `struck` are worker processes that must be given up, with the fault and its instant."""

    driver: int
    folder: Path
    flag: Path
    target: Target
    wall: Wall
    rng: random.Random
    struck: dict[int, tuple[str, int]]

    def workers(self) -> list[int]:
        """Worker processes that run and were not struck before."""
        found = [one["pid"] for one in json.loads((self.folder / "manifest.json").read_text())["workers"]]
        return [pid for pid in found if pid not in self.struck and is_running(pid)]

    def victim(self) -> int | None:
        """A worker, unless it is the last."""
        found = self.workers()
        return self.rng.choice(found) if len(found) > 1 else None

    def strike(self, pid: int, fault: str, number: int = 0) -> None:
        """Notes the blow; a signal of that number is it."""
        self.struck[pid] = (fault, time.monotonic_ns())
        send(pid, number)


async def worker_killed(scene: Scene) -> None:
    """kill -9."""
    if (pid := scene.victim()) is not None:
        scene.strike(pid, "worker_killed", signal.SIGKILL)


async def worker_hangs(scene: Scene) -> None:
    """SIGSTOP, for good."""
    if (pid := scene.victim()) is not None:
        scene.strike(pid, "worker_hangs", signal.SIGSTOP)


async def worker_blocks(scene: Scene) -> None:
    """The first that answers a question of the blocking arm."""
    if scene.victim() is None:
        return
    scene.flag.touch()
    while scene.flag.exists() and is_running(scene.driver):  # noqa: ASYNC110 - another process takes it away
        await asyncio.sleep(0.01)
    scene.flag.unlink(missing_ok=True)
    for taken in scene.flag.parent.glob(f"{scene.flag.name}.*"):
        scene.strike(int(taken.suffix[1:]), "worker_blocks")
        taken.unlink()


async def worker_stopped_for_a_while(scene: Scene) -> None:
    """Less than the limit: nothing is lost."""
    if (pid := scene.victim()) is not None:
        send(pid, signal.SIGSTOP)
        await asyncio.sleep(scene.rng.uniform(0.3, 1.3))
        send(pid, signal.SIGCONT)


async def search_killed(scene: Scene) -> None:
    """The search process of a worker: the worker cannot go on."""
    pid = scene.victim()
    for child in [] if pid is None else children(pid):
        if "spawn_main" in command(child):
            scene.strike(pid, "search_killed")
            send(child, signal.SIGKILL)


async def driver_killed(scene: Scene) -> None:
    """kill -9."""
    send(scene.driver, signal.SIGKILL)


async def driver_stopped_for_a_while(scene: Scene) -> None:
    """Longer than the limit of silence: it is not the workers that were silent."""
    send(scene.driver, signal.SIGSTOP)
    await asyncio.sleep(SILENCE_LIMIT_S + 0.5)
    send(scene.driver, signal.SIGCONT)


async def interrupted(scene: Scene) -> None:
    """Ctrl-C."""
    send(scene.driver, signal.SIGINT)


async def interrupted_twice(scene: Scene) -> None:
    """Ctrl-C, and once more."""
    send(scene.driver, signal.SIGINT)
    await asyncio.sleep(scene.rng.uniform(0.0, 0.1))
    send(scene.driver, signal.SIGINT)


async def terminated(scene: Scene) -> None:
    """SIGTERM."""
    send(scene.driver, signal.SIGTERM)


async def disk_full(scene: Scene) -> None:
    """No file of the driver may grow further than a few kilobytes more; whoever takes the run up has room again."""
    size = (scene.folder / "records.jsonl").stat().st_size + scene.rng.randrange(8000)
    if is_running(scene.driver):
        resource.prlimit(scene.driver, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def target_cut_off(scene: Scene) -> None:
    """It dies and is back after a while."""
    await scene.target.cut()
    await asyncio.sleep(scene.rng.uniform(0.1, 0.8))
    await scene.target.open()


async def target_down_at_start(scene: Scene) -> None:
    """It was down before the run began (`AT_START`), and comes up when trials have been asked for a while."""
    await asyncio.sleep(scene.rng.uniform(0.0, 1.5))
    await scene.target.open()


async def clock_stepped(scene: Scene) -> None:
    """The wall clock is set by hours, seconds or milliseconds, five times, forwards and backwards, and stays wrong."""
    for _ in range(5):
        scene.wall.step(scene.rng)
        await asyncio.sleep(scene.rng.uniform(0.1, 0.4))


AT_START = "target_down_at_start"
NEEDS_WALL = "clock_stepped"
FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        worker_killed, worker_hangs, worker_blocks, worker_stopped_for_a_while, search_killed, driver_killed,
        driver_stopped_for_a_while, interrupted, interrupted_twice, terminated, disk_full, target_cut_off,
        target_down_at_start, clock_stepped,
    )
}  # fmt: skip


def send(pid: int, number: int) -> None:
    """A signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def is_running(pid: int) -> bool:
    """It is there and no zombie."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """Process ids, none of a process that is gone."""
    found: list[int] = []
    for of_thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(child) for child in of_thread.read_text().split()]
    return found


def command(pid: int) -> str:
    """Its command line, empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""
