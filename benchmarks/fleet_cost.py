"""What it costs to bring records home: CPU of driver, workers and Ray itself, bytes, memory; no request is sent.

    python benchmarks/fleet_cost.py [--rates 0,200,1000,2500] [--seconds 6] [--workers 1] [--fleets none,ray]

The driver, its log and Ray are those of a run. Each worker is one by hand that ends the trials it is given after
200 ms with a record made once by a real worker, so that what is measured is exchange, transport, ledger and writing,
not HTTP. Fleet `none`: the worker by hand in the driver's own loop, nothing between them, so that what stays is ours
whatever carries it; `ray` less `none` is what Ray costs. CPU time is read from /proc over the window, per process, and
given in % of one core: on a busy machine it can be compared better than time can. `Ray` is all of Ray but driver and
workers. Bytes of a record: as it comes from a worker and as it goes on file. Memory is the driver's, after a tenth of
the window and at its end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from loadrig.fleet import cluster, frames, on_ray
from loadrig.fleet.driver import Driver
from loadrig.fleet.handle import Handle
from loadrig.fleet.spending import Spending, WorstCase
from loadrig.log import RunLog
from loadrig.selftest.null import Schedule, null_target
from loadrig.selftest.rig import MODEL, rig
from loadrig.wire.turn import resolve
from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings, ModelSettings
from loadrig.words.trial import RunInfo, Stage, Trial
from loadrig.worker.messages import Batch, Order
from loadrig.worker.outbox import Outbox
from loadrig.worker.setup import Setup

SERVICE_S = 0.2
WARM_S = 1.5
TICKS = os.sysconf("SC_CLK_TCK")


class HandWorker:
    """Stands for `on_ray.Actor`: ends each trial after `SERVICE_S`."""

    def __init__(self, setup: Any, _library: Any) -> None:
        self._template: Record = setup.record
        self._serves = setup.serves
        self._name = setup.worker
        self._held: deque[tuple[float, Trial]] = deque()
        self._waiting: deque[Trial] = deque()
        self._outbox = Outbox()
        self._numbered = self._in_flight = 0
        self._closing = asyncio.Event()

    async def run(self) -> None:
        await self._closing.wait()

    async def wait_ready(self) -> tuple[int, str]:
        return os.getpid(), ""

    async def close(self) -> None:
        self._closing.set()

    async def exchange(self, order: bytes) -> bytes:
        return frames.packed(await self.batch(frames.order_decoder.decode(order)))

    async def batch(self, order: Order) -> Batch:
        self._waiting.extend(order.trials)
        until = time.perf_counter() + order.wait_s
        while True:
            self._turn(order)
            if self._outbox.is_full or time.perf_counter() >= until:
                break
            await asyncio.sleep(0.005)
        returned = [trial.id for trial in self._waiting] if order.stop else []
        returned += [trial.id for _, trial in self._held] if order.cancel else []
        if order.stop:
            self._waiting.clear()
        if order.cancel:
            self._held.clear()
        records, parts = self._outbox.take()
        self._numbered += 1
        return Batch(
            self._numbered, records, parts, len(self._held), len(self._waiting), tuple(returned), order.credits
        )

    def _turn(self, order: Order) -> None:
        now = time.perf_counter()
        while self._serves and self._held and self._held[0][0] <= now:
            _, trial = self._held.popleft()
            self._outbox.add(msgspec.structs.replace(_fresh(self._template), trial=trial.id, worker=self._name), {})
        while self._waiting and len(self._held) < order.credits:
            self._held.append((now + SERVICE_S, self._waiting.popleft()))


@dataclass(frozen=True)
class HandSetup:
    """What a `HandWorker` is told."""

    worker: str
    library: Path
    record: Record
    serves: bool


@dataclass(frozen=True)
class Seen:
    """One window: CPU in % of a core, by part."""

    rate: int
    reached_per_s: float
    exchanges_per_s: float
    driver: float
    workers: float
    ray: float
    memory_mb: tuple[float, float]


class Pulses:
    """Counts exchanges, and knows how many records came."""

    def __init__(self) -> None:
        self.pulses = self.records = 0

    def started(self, info: RunInfo) -> None: ...
    def finished(self) -> None: ...

    def record(self, record: Record) -> None:
        self.records += record.outcome == "answered"

    def pulse(self, _: object) -> None:
        self.pulses += 1


def main() -> int:
    """Measures each rate over one Ray, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", default="0,200,1000,2500")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--fleets", default="none,ray")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, ray {version('ray')}")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, tempfile.TemporaryDirectory() as name:
        template = runner.run(_template(Path(name)))
        line = msgspec.json.encode(template)
        sent = len(frames.packed(tuple(_fresh(template) for _ in range(64)))) / 64
        print(f"a record of 100 tokens: {len(line) + 1} bytes on file, {sent:.0f} on its way, in a batch of 64")
        on_ray.Actor = HandWorker  # type: ignore[assignment,misc]
        begun, cpu = time.perf_counter(), _family_cpu_s()
        cluster.start(options.workers, 0.5)
        took, used = time.perf_counter() - begun, _family_cpu_s() - cpu
        print(f"Ray up after {took:.1f} s and {used:.1f} s of CPU; {_family_mb():.0f} MB in {len(_family())} processes")
        print(
            "fleet trials/s  reached  exchanges/s   driver  workers    Ray   total  driver ms a 1,000"
            "  driver MB at 10, 100 %"
        )
        for rate, fleet in product(map(int, options.rates.split(",")), options.fleets.split(",")):
            seen = runner.run(_seen(rate, template, options, Path(name), fleet))
            total = seen.driver + seen.workers + seen.ray
            a_thousand = seen.driver * 10 / seen.reached_per_s * 1000 if seen.reached_per_s else float("nan")
            print(
                f"{fleet:<5}{seen.rate:>9}{seen.reached_per_s:>9.0f}{seen.exchanges_per_s:>13.1f}{seen.driver:>9.1f}"
                f"{seen.workers:>9.1f}{seen.ray:>7.1f}{total:>8.1f}{a_thousand:>19.0f}"
                f"{seen.memory_mb[0]:>14.1f}, {seen.memory_mb[1]:.1f}",
                flush=True,
            )
        cluster.shut_down()
    return 0


async def _template(folder: Path) -> Record:
    """A record as a real worker makes it, of a reply of 100 tokens."""
    (folder / "rig").mkdir()
    with null_target(Schedule(100), model=MODEL) as url:
        target = await resolve(ModelSettings(id=MODEL), url)
        async with rig(folder / "rig", {MODEL: target}) as opened:
            batch = await opened.worker.exchange(Order("s", 1, _trials("s", 1), more=False))
    return batch.records[0]


async def _seen(rate: int, template: Record, options: argparse.Namespace, folder: Path, fleet: str) -> Seen:
    """A stage that keeps as many trials in flight as make the rate."""
    concurrency = max(options.workers, round(rate * SERVICE_S))
    stage = Stage(f"r{rate}", concurrency, duration_s=WARM_S + options.seconds)
    trials = _trials(stage.name, int(rate * (WARM_S + options.seconds) * 1.5) + concurrency)
    library = folder / f"library-{rate}-{fleet}"
    library.mkdir()
    setups: list[Any] = [
        HandSetup(f"w{number}", library, template, rate > 0) for number in range(1, options.workers + 1)
    ]
    pulses = Pulses()
    spending = Spending(BudgetSettings(), WorstCase(Decimal(0), 0), ["control"])
    info = RunInfo("r", "cost", "0", len(trials), "USD", simulated=False)
    async with _beside(setups) if fleet == "none" else on_ray.ray_fleet(_typed(setups), cpus_per_worker=0.5) as handles:
        with RunLog(folder / f"run-{rate}-{fleet}") as log:
            driver = Driver(info, log, [pulses], spending=spending)  # type: ignore[list-item]
            driving = asyncio.create_task(driver.drive([(stage, trials)], handles))
            workers = {handle.pid for handle in handles} - {os.getpid()}
            await asyncio.sleep(WARM_S)
            with _window(workers) as window:
                before = (pulses.records, pulses.pulses)
                await asyncio.sleep(options.seconds / 10)
                memory = [_memory_mb(os.getpid())]
                await asyncio.sleep(options.seconds * 0.9)
                memory.append(_memory_mb(os.getpid()))
                records, exchanges = pulses.records - before[0], pulses.pulses - before[1]
            if rate == 0:
                driver.stop()
            await driving
    took = window["took_s"]
    return Seen(
        rate, records / took, exchanges / took,
        *(window[part] / took * 100 for part in ("driver", "workers", "ray")),
        (memory[0], memory[1]),
    )  # fmt: skip


@asynccontextmanager
async def _beside(setups: Sequence[Any]) -> AsyncIterator[list[Handle]]:
    """Workers by hand in this very loop."""
    workers = [HandWorker(setup, None) for setup in setups]
    running = [asyncio.create_task(worker.run()) for worker in workers]
    yield [
        Handle(setup.worker, os.getpid(), worker.batch, task, lambda: None)
        for setup, worker, task in zip(setups, workers, running, strict=True)
    ]
    for worker in workers:
        await worker.close()
    await asyncio.gather(*running)


def _fresh(record: Record) -> Record:
    """A copy that shares no part with it, for what is shared is pickled once."""
    return msgspec.json.decode(msgspec.json.encode(record), type=Record)


def _typed(setups: Sequence[Any]) -> Sequence[Setup]:
    return setups


def _trials(stage: str, count: int) -> tuple[Trial, ...]:
    return tuple(Trial(f"t{n}", n, "control", MODEL, "q1", "none", 1, stage, "measured") for n in range(count))


@contextmanager
def _window(workers: set[int]) -> Iterator[dict[str, float]]:
    """CPU seconds of each part over the window."""
    before, begun, found = _cpu_s(_family()), time.perf_counter(), dict[str, float]()
    yield found
    found["took_s"] = time.perf_counter() - begun
    used = {pid: cpu_s - before.get(pid, 0.0) for pid, cpu_s in _cpu_s(_family()).items()}
    found["driver"] = used.pop(os.getpid())
    found["workers"] = sum(used.pop(pid, 0.0) for pid in workers)
    found["ray"] = sum(used.values())


def _family() -> list[int]:
    """This process and all below it."""
    found = [os.getpid()]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _cpu_s(pids: Iterable[int]) -> dict[int, float]:
    found = {}
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
            found[pid] = (int(fields[11]) + int(fields[12])) / TICKS
    return found


def _family_cpu_s() -> float:
    return sum(_cpu_s(_family()).values())


def _family_mb() -> float:
    """Proportional memory of all processes below this one and of this one."""
    total = 0
    for pid in _family():
        with suppress(OSError):
            rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(row.split()[1]) for row in rows if row.startswith("Pss:"))
    return total / 1e3


def _memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
