"""A whole run against scripted servers, in one process and one loop: socket, worker, driver, records, summary.

Each model of the plan has a server of its own; the request head asks no SDK, so a run takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from asking import head, run
from scripted_server import Script, Server, serving

from loadrig import log
from loadrig.analysis.summary import Summary, summarize
from loadrig.execution.embedded import embedded
from loadrig.execution.folder import plan_as_json
from loadrig.execution.prepare import Prepared, prepare
from loadrig.fleet.driver import Driver
from loadrig.fleet.inline import inline_fleet
from loadrig.fleet.spending import Spending
from loadrig.providers import load
from loadrig.wire.turn import Target
from loadrig.words.record import Record
from loadrig.words.settings import Plan
from loadrig.words.trial import Observer, Pulse, RunInfo
from loadrig.worker.library import Texts, save
from loadrig.worker.setup import Setup

Scripts = Sequence[Script] | str | Path


class Stopper(Observer, Protocol):
    """An observer that is handed the way to stop the run."""

    stop: Callable[[], None]


@dataclass
class Watching:
    """An observer that does nothing but know the process ids of the simulators; for subclassing."""

    stop: Callable[[], None] = lambda: None
    simulators: tuple[int, ...] = ()

    def started(self, info: RunInfo) -> None: ...
    def record(self, record: Record) -> None: ...
    def pulse(self, pulse: Pulse) -> None: ...
    def finished(self) -> None: ...


@dataclass(frozen=True)
class Fired:
    """What a run left: its folder as read back, its summary, the servers by model, and the driver."""

    run: log.RunFolder
    summary: Summary
    servers: Mapping[str, Server]
    driver: Driver

    def records(self, model: str) -> list[Record]:
        return [record for record in self.run.records if record.model == model]


def fire(
    plan: Plan, scripts: Mapping[str, Scripts], folder: Path, *,
    stopper: Stopper | None = None, loop: str = "asyncio",
) -> Fired:  # fmt: skip
    """Runs the plan, over as many workers in this loop as it says. `scripts` gives each model's server its scripts, or
    is the URL of one that is elsewhere, or the scenario file of an embedded simulator, which the run then watches."""
    prepared = prepare(plan)
    library, results = folder / "library", folder / "run"
    library.mkdir()
    results.mkdir()
    save(library, Texts(prepared.corpus, prepared.questions), prepared.indexes)
    return run(_fire(prepared, scripts, library, results, stopper), loop)


async def _fire(
    prepared: Prepared,
    scripts: Mapping[str, Scripts],
    library: Path,
    results: Path,
    stopper: Stopper | None,
) -> Fired:
    plan, estimate = prepared.plan, prepared.estimate
    async with AsyncExitStack() as stack:
        servers = {
            model: await stack.enter_async_context(serving(*script))
            for model, script in scripts.items()
            if not isinstance(script, str | Path)
        }
        simulators = {
            model: await stack.enter_async_context(embedded(str(script), results / f"truth-{model}.jsonl"))
            for model, script in scripts.items()
            if isinstance(script, Path)
        }
        urls = {model: script for model, script in scripts.items() if isinstance(script, str)}
        urls |= {model: server.url for model, server in servers.items()}
        urls |= {model: simulator.base_url for model, simulator in simulators.items()}
        targets = {model.id: Target(model, load(model.provider), head(urls[model.id])) for model in plan.model}
        handles = []
        for number in range(1, plan.load.workers + 1):
            setup = Setup("r1", f"w{number}", plan, library, targets, prepared.prices)
            handles += await stack.enter_async_context(inline_fleet(setup))
        written = stack.enter_context(log.RunLog(results))
        spending = Spending(plan.budget, estimate.worst, [arm.name for arm in plan.arms])
        info = RunInfo("r1", plan.name, "0", len(prepared.trials), prepared.prices.currency, simulated=False)
        driver = Driver(info, written, [] if stopper is None else [stopper], spending=spending)
        if stopper is not None:
            stopper.stop = driver.stop
        if isinstance(stopper, Watching):
            stopper.simulators = tuple(simulator.pid for simulator in simulators.values())
        by_stage = [
            (stage, [trial for trial in prepared.trials if trial.stage == stage.name]) for stage in prepared.stages
        ]
        await driver.drive(by_stage, handles, list(simulators.values()))
    log.write_lines(results / log.PLAN, prepared.trials)
    log.write_lines(results / log.QUESTIONS, prepared.questions.values())
    manifest = {
        "run": "r1", "plan": plan_as_json(plan), "simulated": bool(simulators), "status": "complete",
        "currency": prepared.prices.currency, "warnings": driver.warnings,
        "stages": [asdict(stage) for stage in prepared.stages],
        "self_measurement": driver.watch.measurements(), "stamps": driver.watch.stamps(),
    }  # fmt: skip
    log.write_json(results / log.MANIFEST, manifest)
    log.leave_out(results, driver.surplus)
    found = log.read_run(results)
    return Fired(found, summarize(found), servers, driver)
