"""Workers for the driver that a test writes by hand: each answers an order with what a function of the test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import msgspec
from asking import run
from records import record

from loadrig import log
from loadrig.fleet.driver import Driver
from loadrig.fleet.handle import Handle
from loadrig.fleet.spending import Spending, WorstCase
from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings
from loadrig.words.trial import Observer, Pulse, RunInfo, Stage, Trial
from loadrig.worker.messages import Batch, Order

MEASURED = {"arm": "rag", "model": "m", "question": "q1", "category": "fact", "repetition": 1, "phase": "measured"}


@dataclass
class HandWorker:
    """`orders` are those it was given; `held` what it has in hand; `begun` what is known when it is dead."""

    name: str
    says: Callable[[HandWorker, Order], Batch]
    orders: list[Order] = field(default_factory=list)
    held: list[Trial] = field(default_factory=list)
    ended_by_driver: int = 0
    begun: int | None = None

    async def exchange(self, order: Order) -> Batch:
        await asyncio.sleep(0)
        self.orders.append(order)
        assert len(self.orders) < 50, "the driver asks without end"
        self.held += order.trials
        return self.says(self, order)

    def end(self) -> int | None:
        self.ended_by_driver += 1
        return self.begun

    def batch(self, ended: Sequence[Trial] = (), **given: object) -> Batch:
        """A batch of this exchange's number with records of the trials that ended."""
        self.held = [trial for trial in self.held if trial not in ended]
        records = tuple(record(trial.id, stage=trial.stage, worker=self.name) for trial in ended)
        return Batch(**{"number": len(self.orders), "records": records, "in_flight": len(self.held), **given})


def promptly(worker: HandWorker, order: Order) -> Batch:
    """Everything in hand has ended."""
    return worker.batch(list(worker.held))


@dataclass
class Seen:
    """Implements `loadrig.words.trial.Observer`: keeps what it was told."""

    infos: list[RunInfo] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    pulses: list[Pulse] = field(default_factory=list)
    finishes: int = 0

    def started(self, info: RunInfo) -> None:
        self.infos.append(info)

    def record(self, record: Record) -> None:
        self.records.append(record)

    def pulse(self, pulse: Pulse) -> None:
        self.pulses.append(pulse)

    def finished(self) -> None:
        self.finishes += 1


@dataclass
class Driven:
    """`on_file` are trial, outcome and reason of every record, in the order they were written."""

    driver: Driver
    seen: Seen
    on_file: list[tuple[str, str, str | None]]


def trials(stage: str, count: int) -> tuple[Stage, list[Trial]]:
    """A stage of two in flight and its trials, `c2-0` and so on."""
    return Stage(stage, 2), [Trial(f"{stage}-{n}", n, stage=stage, **MEASURED) for n in range(count)]  # type: ignore[arg-type]


def driven(
    folder: Path, stages: Sequence[tuple[Stage, list[Trial]]], *workers: HandWorker, tokens: int | None = None,
    driving: Callable[[Driver], None] = lambda driver: None, interrupt: bool = False,
    unrun: frozenset[str] = frozenset(),
) -> Driven:  # fmt: skip
    """Drives the stages to their end over these workers. `tokens` is a budget, at 600 a trial until one has ended;
    `driving` is told the driver; with `interrupt` the drive is cancelled once every worker has had an order."""
    spending = Spending(BudgetSettings(tokens=tokens), WorstCase(Decimal(0), 600), ["rag"])
    info = RunInfo("r1", "hand", "0", sum(len(asked) for _, asked in stages), "USD", simulated=False)
    seen = Seen()
    watching: list[Observer] = [seen]

    async def go(driver: Driver) -> None:
        runnings = [asyncio.create_task(_until_cancelled()) for _ in workers]
        handles = [
            Handle(worker.name, number, worker.exchange, running, worker.end)
            for number, (worker, running) in enumerate(zip(workers, runnings, strict=True), start=1)
        ]
        try:
            await _drive(driver, stages, handles, workers if interrupt else ())
        finally:
            for running in runnings:
                running.cancel()

    with log.RunLog(folder) as written:
        driver = Driver(info, written, watching, spending=spending, unrun=unrun)
        driving(driver)
        run(go(driver))
    return Driven(driver, seen, on_file(folder))


async def _drive(
    driver: Driver, stages: Sequence[tuple[Stage, list[Trial]]], handles: list[Handle], heard: Sequence[HandWorker]
) -> None:
    driving = asyncio.create_task(driver.drive(stages, handles))
    while heard and not all(worker.orders for worker in heard):  # noqa: ASYNC110 - an order given has no event
        await asyncio.sleep(0)
    if heard:
        driving.cancel()
        await asyncio.wait({driving})
    else:
        await driving


async def _until_cancelled() -> None:
    await asyncio.Event().wait()


def on_file(folder: Path) -> list[tuple[str, str, str | None]]:
    """Trial, outcome and reason of every line."""
    lines = (folder / log.RECORDS).read_bytes().splitlines()[1:]
    records = [msgspec.json.decode(line, type=Record) for line in lines]
    return [(one.trial, one.outcome, one.reason) for one in records]
