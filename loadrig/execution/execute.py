"""Runs a plan from start to finished folder. The order matters: Ray starts first, in a thread, for it takes longest;
all that the user can have got wrong is found before anything is written; whatever happens later, records stay.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from loadrig import __version__
from loadrig.execution import folder as folders
from loadrig.execution import resuming
from loadrig.execution.options import Options
from loadrig.execution.prepare import Prepared, prepare
from loadrig.execution.targets import Reached, reach
from loadrig.fleet import on_ray
from loadrig.fleet.driver import Driver
from loadrig.fleet.handle import Handle
from loadrig.fleet.inline import inline_fleet
from loadrig.fleet.spending import Spending
from loadrig.live.endpoint import Endpoint
from loadrig.live.metrics import Metrics
from loadrig.live.progress import Progress
from loadrig.log import RunLog, read_run
from loadrig.words.clock import SystemClock
from loadrig.words.errors import InputError, Interrupted
from loadrig.words.settings import Plan
from loadrig.words.trial import RunInfo, Stage, Trial
from loadrig.worker.library import Texts, save
from loadrig.worker.setup import Setup

ASK_ABOVE = 1  # units of currency: a dearer run against a real endpoint wants --yes or --budget


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended. `interrupted`: stopped by a signal, results kept."""

    folder: Path
    interrupted: bool


def execute(plan: Plan, options: Options, progress: Progress) -> Finished:
    """Runs the plan. Raises `InputError` before anything is written, `FleetError` when workers cannot be started."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_execute(plan, options, progress))
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        raise Interrupted("interrupted; what was recorded is kept, --resume goes on from there") from error


async def _execute(plan: Plan, options: Options, progress: Progress) -> Finished:
    async with AsyncExitStack() as stack:
        ray = await stack.enter_async_context(_Ray(plan, options, progress))
        progress.notice("reading the corpus, building the indexes")
        prepared = await asyncio.to_thread(prepare, plan)
        manifest, trials = _taken_up(prepared, options)
        metrics = Metrics()
        port = options.metrics_port
        endpoint = stack.enter_context(Endpoint(metrics.registry, host=options.metrics_host, port=port))
        folder = stack.enter_context(folders.opened(options.out, plan, options.resume))
        reached = await stack.enter_async_context(reach(plan, truth_log=folder / "truth.jsonl"))
        _confirm(prepared, options, reached)
        library = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="loadrig-")))
        await asyncio.to_thread(save, library, Texts(prepared.corpus, prepared.questions), prepared.indexes)
        setups = [
            Setup(folder.name, f"w{number}", plan, library, reached.targets, prepared.prices)
            for number in range(1, ray.workers + 1)
        ]
        await ray.started()
        progress.notice(f"starting {len(setups)} worker{'s' * (len(setups) > 1)}")
        handles = await stack.enter_async_context(ray.fleet(setups))
        facts = _facts(options, reached, handles)
        if manifest is None:
            manifest = folders.begin(folder, prepared, facts)
        if endpoint.url:
            progress.notice(f"metrics at {endpoint.url}")
        log = stack.enter_context(RunLog(folder))
        spending = Spending(plan.budget, dearest=prepared.estimate.dearest, largest=prepared.estimate.largest)
        info = RunInfo(
            folder.name, plan.name, __version__, len(trials), prepared.prices.currency, simulated=reached.simulated
        )
        driver = Driver(info, log, [progress, metrics], spending=spending, clock=SystemClock())
        try:
            with _stopped_by_signals(driver):
                await driver.drive(_by_stage(prepared.stages, trials), handles)
        finally:
            folders.complete(
                folder,
                manifest,
                status="interrupted" if driver.interrupted else "complete",
                measured=driver.watch.measurements(),
                warnings=[*reached.warnings, *driver.warnings],
            )
        if endpoint.url and options.linger_s:
            progress.notice(f"metrics stay at {endpoint.url} for {options.linger_s:g} s")
            await asyncio.sleep(options.linger_s)
        return Finished(folder, driver.interrupted)


class _Ray:
    """Ray for more than one worker, started in a thread while the driver does other work; else one inline worker."""

    def __init__(self, plan: Plan, options: Options, progress: Progress) -> None:
        self.used = plan.load.workers > 1 and not options.inline
        self.workers = plan.load.workers if self.used else 1
        self._cpus = plan.load.cpus_per_worker
        self._progress = progress
        self._starting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> _Ray:
        if self.used:
            self._progress.notice("starting Ray")
            on_ray.check(self.workers, self._cpus)
            self._starting = asyncio.create_task(asyncio.to_thread(on_ray.start, self.workers * self._cpus))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._starting is not None:
            await asyncio.wait({self._starting})
            if not self._starting.exception():
                await asyncio.to_thread(on_ray.shut_down)

    async def started(self) -> None:
        if self._starting is not None:
            self._progress.notice("waiting for Ray")
            await self._starting

    def fleet(self, setups: Sequence[Setup]) -> AbstractAsyncContextManager[list[Handle]]:
        return on_ray.ray_fleet(setups, cpus_per_worker=self._cpus) if self.used else inline_fleet(setups[0])


@contextmanager
def _stopped_by_signals(driver: Driver) -> Iterator[None]:
    """The first SIGINT or SIGTERM stops the driver, which keeps everything; the second ends it at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def stop() -> None:
        if driver.interrupted and task is not None:
            task.cancel()
        driver.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _by_stage(stages: Sequence[Stage], trials: Sequence[Trial]) -> list[tuple[Stage, list[Trial]]]:
    grouped: dict[str, list[Trial]] = {stage.name: [] for stage in stages}
    for trial in trials:
        grouped[trial.stage].append(trial)
    return [(stage, grouped[stage.name]) for stage in stages if grouped[stage.name]]


def _taken_up(prepared: Prepared, options: Options) -> tuple[dict[str, Any] | None, tuple[Trial, ...]]:
    """The manifest and open trials of a resumed run; no manifest and all trials for a new one."""
    if options.resume is None:
        return None, prepared.trials
    run = read_run(options.resume)
    resuming.check_same_plan(run, folders.plan_as_json(prepared.plan), prepared.corpus.sha256)
    trials = resuming.missing(run, retry_failed=options.retry_failed)
    if not trials:
        raise InputError(
            "nothing is missing", path=options.resume, remedy="--retry failed asks the failed trials again"
        )
    return dict(run.manifest), trials


def _confirm(prepared: Prepared, options: Options, reached: Reached) -> None:
    cost = prepared.estimate.cost
    if reached.local or options.confirmed or prepared.plan.budget.money is not None or cost is None:
        return
    if cost > ASK_ABOVE:
        raise InputError(
            f"the run is estimated to cost {cost:.2f} {prepared.prices.currency}",
            remedy="confirm with --yes, or set a limit with --budget",
        )


def _facts(options: Options, reached: Reached, handles: Sequence[Handle]) -> Mapping[str, Any]:
    return {
        "simulated": reached.simulated,
        "endpoints": dict(reached.base_urls),
        "command_line": options.command_line,
        "workers": [{"name": handle.name, "pid": handle.pid} for handle in handles],
    }
