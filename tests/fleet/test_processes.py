"""Workers as plain processes: the same worker, gone with its driver, and counted when it is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from asking import run, until
from open_worker import exchanged, records, run_dry, setup_of, trials
from scripted_server import Script, Server, serving
from stream_events import blk, reply, start

from loadrig.cost import Prices
from loadrig.fleet.handle import Handle
from loadrig.fleet.processes import process_fleet
from loadrig.words.errors import FleetError
from loadrig.worker.messages import Batch, Order
from loadrig.worker.setup import Setup
from plans import plan

T = TypeVar("T")
QUICK = Script([(0, reply())])
ENDLESS = Script([(0, start() + blk("text"))], end="hold")


def working(
    folder: Path, script: Script, work: Callable[[list[Handle], Server], Coroutine[Any, Any, T]], *, workers: int = 1
) -> T:
    """What `work` makes of workers that are ready and the server they ask; all are closed behind it."""

    async def go() -> T:
        async with serving(script) as server:
            setups = [setup_of(folder, server.url, worker=f"w{n + 1}") for n in range(workers)]
            async with asyncio.timeout(60), process_fleet(setups) as handles:
                return await work(handles, server)

    return run(go())


def is_running(pid: int) -> bool:
    """It is there, and no zombie."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def family(pid: int) -> list[int]:
    """The process and its children's children."""
    found = [pid]
    for one in found:
        found += [int(child) for child in Path(f"/proc/{one}/task/{one}/children").read_text().split()]
    return found


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_a_process_does_what_a_worker_does(tmp_path: Path) -> None:
    """Five trials over two processes, not this one: five records by name, no more requests; then all are gone."""

    async def work(handles: list[Handle], server: Server) -> tuple[list[Batch], list[int], int]:
        first, second = handles
        batches = await run_dry(first, Order("c2", 2, trials(5)[:3], more=False))
        batches += await run_dry(second, Order("c2", 2, trials(5)[3:], more=False))
        return batches, [pid for handle in handles for pid in family(handle.pid)], len(server.requests)

    batches, pids, asked = working(tmp_path, QUICK, work, workers=2)
    told = sorted((record.trial, record.outcome, record.worker) for record in records(batches))
    assert told == [(f"t{n}", "answered", "w1" if n < 4 else "w2") for n in range(1, 6)]
    assert asked == 5
    assert len(pids) >= 4  # two workers and their search processes
    assert os.getpid() not in pids
    run(until(lambda: not any(is_running(pid) for pid in pids)))


def test_a_killed_process_is_noticed_at_once_and_has_counted(tmp_path: Path) -> None:
    """kill -9 with two of five begun: the exchange in progress, of a minute, ends with the signal's name, and the count
    is 2. Its search process goes with it."""

    async def work(handles: list[Handle], server: Server) -> tuple[int | None, list[int]]:
        (worker,) = handles
        pids = family(worker.pid)
        asking = asyncio.create_task(worker.exchange(Order("c2", 2, trials(5), more=False, wait_s=60)))
        await until(lambda: len(server.sent_ns) == 2)
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(FleetError, match=rf"worker w1 \(pid {worker.pid}\) was ended by SIGKILL"):
            await asking
        return worker.end(), pids

    begun, pids = working(tmp_path, ENDLESS, work)
    assert begun == 2
    assert not is_running(pids[0])
    run(until(lambda: not any(is_running(pid) for pid in pids)))


def test_a_process_that_hangs_is_killed_when_it_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGSTOP: after the limit (here 0.2 s) the exchange ends; given up, the process is gone and was not waited for."""
    monkeypatch.setattr("loadrig.fleet.handle.SILENCE_LIMIT_S", 0.2)

    async def work(handles: list[Handle], server: Server) -> tuple[int | None, bool]:
        (worker,) = handles
        os.kill(worker.pid, signal.SIGSTOP)
        with pytest.raises(FleetError, match=r"has not answered for 0\.2 s"):
            await worker.exchange(Order("c2", 2, trials(5)))
        return worker.end(), is_running(worker.pid)

    assert working(tmp_path, QUICK, work) == (0, False)


def test_one_that_was_stopped_for_a_while_goes_on(tmp_path: Path) -> None:
    """SIGSTOP and, a question asked again later, SIGCONT: the order is answered, and its trial was begun once."""

    async def work(handles: list[Handle], server: Server) -> tuple[list[Batch], int]:
        (worker,) = handles
        os.kill(worker.pid, signal.SIGSTOP)
        asyncio.get_running_loop().call_later(1.2, os.kill, worker.pid, signal.SIGCONT)
        return await run_dry(worker, Order("c2", 1, trials(1), more=False)), len(server.requests)

    batches, asked = working(tmp_path, QUICK, work)
    assert [record.trial for record in records(batches)] == ["t1"]
    assert asked == 1


def test_what_breaks_a_worker_is_told(tmp_path: Path) -> None:
    """Its search process killed, the next search ends the worker with a FleetError that says so."""

    async def work(handles: list[Handle], server: Server) -> None:
        (worker,) = handles
        os.kill(next(pid for pid in family(worker.pid) if "spawn_main" in command_of(pid)), signal.SIGKILL)
        await exchanged(worker, Order("c2", 1, trials(1, arm="rag-bm25-k1")), lambda batches: bool(records(batches)))

    with pytest.raises(FleetError, match="w1 broke down: FleetError: the search process of this worker died"):
        working(tmp_path, QUICK, work)


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    """No library where it was said to be: the reason, and no process left."""
    setup = Setup("r1", "w1", plan(), tmp_path, {}, Prices.load())

    async def go() -> None:
        async with process_fleet([setup]):
            pass

    with pytest.raises(FleetError, match="w1 broke down: FileNotFoundError"):
        run(go())


DRIVER = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_processes import ENDLESS, Order, family, trials, working
async def work(handles, server):
    await handles[0].exchange(Order("c2", 2, trials(5), more=False, wait_s=0.01))
    for handle in handles:
        print(*family(handle.pid), flush=True)
    await asyncio.Event().wait()
working(Path(sys.argv[1]), ENDLESS, work, workers=2)
"""


def test_workers_end_with_their_driver_even_when_they_hang(tmp_path: Path) -> None:
    """kill -9 of the driver of two workers, one at work, one stopped: both are gone, and their search processes."""
    here = Path(__file__).parent
    command = [sys.executable, "-c", DRIVER, str(tmp_path), str(here), str(here.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        busy, hanging = ([int(pid) for pid in driver.stdout.readline().split()] for _ in range(2))
        os.kill(hanging[0], signal.SIGSTOP)
        driver.kill()
    assert len(busy) == len(hanging) > 1
    run(until(lambda: not any(is_running(pid) for pid in busy + hanging)))


def test_nothing_listens_on_when_closing_is_broken_off(tmp_path: Path) -> None:
    """A worker that does not go, and a second signal while it is waited for: what listens to it has ended too, before
    the file of its last words is closed."""

    async def go() -> bool:
        opened: asyncio.Queue[Handle] = asyncio.Queue()

        async def use(url: str) -> None:
            async with process_fleet([setup_of(tmp_path, url)]) as (handle,):
                os.kill(handle.pid, signal.SIGSTOP)
                opened.put_nowait(handle)

        async with serving(QUICK) as server:
            using = asyncio.create_task(use(server.url))
            handle = await opened.get()
            using.cancel()
            await asyncio.gather(using, return_exceptions=True)
            has_ended = handle.running.done()
            handle.end()
            return has_ended

    assert run(go())
