"""A whole run against scripted servers, in one process and one loop: socket, worker, driver, records, summary.

Each model of the plan has a server of its own; the request head asks no SDK, so a run takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from asking import head, run
from scripted_server import Script, Server, serving

from loadrig import log
from loadrig.analysis.summary import Summary, summarize
from loadrig.execution.folder import plan_as_json
from loadrig.execution.prepare import Prepared, prepare
from loadrig.fleet.driver import Driver
from loadrig.fleet.inline import inline_fleet
from loadrig.fleet.spending import Spending
from loadrig.providers import load
from loadrig.wire.turn import Target
from loadrig.words.record import Record
from loadrig.words.settings import Plan
from loadrig.words.trial import Observer, RunInfo
from loadrig.worker.library import Texts, save
from loadrig.worker.setup import Setup


class Stopper(Observer, Protocol):
    """An observer that is handed the way to stop the run."""

    stop: Callable[[], None]


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
    plan: Plan, scripts: Mapping[str, Sequence[Script] | str], folder: Path, *,
    stopper: Stopper | None = None, loop: str = "asyncio",
) -> Fired:  # fmt: skip
    """Runs the plan. `scripts` gives each model's server its scripts, or is the URL of one that is elsewhere."""
    prepared = prepare(plan)
    library, results = folder / "library", folder / "run"
    library.mkdir()
    results.mkdir()
    save(library, Texts(prepared.corpus, prepared.questions), prepared.indexes)
    return run(_fire(prepared, scripts, library, results, stopper), loop)


async def _fire(
    prepared: Prepared,
    scripts: Mapping[str, Sequence[Script] | str],
    library: Path,
    results: Path,
    stopper: Stopper | None,
) -> Fired:
    plan, estimate = prepared.plan, prepared.estimate
    async with AsyncExitStack() as stack:
        servers = {
            model: await stack.enter_async_context(serving(*script))
            for model, script in scripts.items()
            if not isinstance(script, str)
        }
        urls = {model: script if isinstance(script, str) else servers[model].url for model, script in scripts.items()}
        targets = {model.id: Target(model, load("anthropic"), head(urls[model.id])) for model in plan.model}
        setup = Setup("r1", "w1", plan, library, targets, prepared.prices)
        handles = await stack.enter_async_context(inline_fleet(setup))
        written = stack.enter_context(log.RunLog(results))
        spending = Spending(plan.budget, estimate.worst, [arm.name for arm in plan.arms])
        info = RunInfo("r1", plan.name, "0", len(prepared.trials), prepared.prices.currency, simulated=False)
        driver = Driver(info, written, [] if stopper is None else [stopper], spending=spending)
        if stopper is not None:
            stopper.stop = driver.stop
        by_stage = [
            (stage, [trial for trial in prepared.trials if trial.stage == stage.name]) for stage in prepared.stages
        ]
        await driver.drive(by_stage, handles)
    log.write_lines(results / log.PLAN, prepared.trials)
    log.write_lines(results / log.QUESTIONS, prepared.questions.values())
    manifest = {
        "run": "r1", "plan": plan_as_json(plan), "simulated": False, "status": "complete",
        "currency": prepared.prices.currency, "warnings": driver.warnings,
        "stages": [{"name": stage.name, "concurrency": stage.concurrency} for stage in prepared.stages],
    }  # fmt: skip
    log.write_json(results / log.MANIFEST, manifest)
    found = log.read_run(results)
    return Fired(found, summarize(found), servers, driver)
