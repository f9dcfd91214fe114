"""Runs a plan from start to finished folder. The order matters: Ray, if it is used, starts first, for it takes longest;
all that the user can have got wrong is found before anything is written; whatever happens later, records stay.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

from loadrig import __version__
from loadrig.execution import changing, resuming
from loadrig.execution import folder as folders
from loadrig.execution.beforehand import Means
from loadrig.execution.building import Foreseen, Shelf, build, foreseen, wanted
from loadrig.execution.building import troubles as troubles_of
from loadrig.execution.course import Course
from loadrig.execution.fleets import Fleet
from loadrig.execution.options import Options
from loadrig.execution.prepare import Prepared, after_change, calibrate, prepare
from loadrig.execution.priming import prime, troubles
from loadrig.execution.probing import probe
from loadrig.execution.signals import Signals
from loadrig.execution.steering import Steering
from loadrig.execution.targets import Reached, check, reach
from loadrig.execution.watching import Watching, ahead_of
from loadrig.fleet.changing import Changing
from loadrig.fleet.driver import Driver
from loadrig.fleet.handle import Handle
from loadrig.fleet.spending import Spending
from loadrig.live.endpoint import Endpoint
from loadrig.live.progress import Progress
from loadrig.log import RunLog, leave_out, read_leases, read_probes, read_run
from loadrig.plan import likely
from loadrig.words.change import BEFORE
from loadrig.words.errors import InputError, Interrupted
from loadrig.words.settings import Plan
from loadrig.words.trial import Observer, RunInfo, Stage, Trial
from loadrig.worker.library import Building, Texts, save
from loadrig.worker.setup import Setup

ASK_ABOVE = 1  # units of currency: a dearer run against a real endpoint wants --yes or --budget


Preparing = Callable[[Plan, Building], Prepared]


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended. `interrupted`: stopped by a signal, results kept."""

    folder: Path
    interrupted: bool


def execute(
    plan: Plan,
    options: Options,
    progress: Progress,
    *,
    steering: Steering | None = None,
    preparing: Preparing | None = None,
) -> Finished:
    """Runs the plan, or the stages that `steering` chooses for it; `preparing` is another's for a plan whose questions
    are on no file. Raises `InputError` before anything is written, `FleetError` when workers cannot be started."""
    signals = Signals(progress, deadline_s=options.deadline_s)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_execute(plan, options, progress, signals, steering, preparing))
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        by = f"stopped by the deadline of {options.deadline_s:g} s" if signals.cut_short else "interrupted"
        raise Interrupted(f"{by}; a run that had begun is kept, --resume goes on from there") from error


async def _execute(
    plan: Plan,
    options: Options,
    progress: Progress,
    signals: Signals,
    steering: Steering | None,
    preparing: Preparing | None,
) -> Finished:
    async with AsyncExitStack() as stack:
        stack.enter_context(signals)
        await check(plan)
        fleet = await stack.enter_async_context(Fleet(plan.load, progress, inline=options.inline))
        progress.notice("reading the corpus, building the indexes")
        prepared = await _prepared(plan, progress, preparing or _Steered(steering))
        prepared, taken = await asyncio.to_thread(_taken_up, prepared, options)
        watching = stack.enter_context(Watching(options, progress))
        folder = stack.enter_context(folders.opened(options.out, plan, options.resume or options.folder))
        log = stack.enter_context(RunLog(folder))  # locks a run that is taken up before anything of it is touched
        reached = await stack.enter_async_context(reach(plan, folder))
        prepared = await asyncio.to_thread(calibrate, prepared, reached.targets)
        if steering is not None:
            progress.notice(_at_most(prepared))
        _confirm(prepared, options, reached, foreseen(prepared))
        for warning in (*prepared.warnings, *reached.warnings):
            progress.notice(f"warning: {warning}")
        session = folders.Session(options.command_line, fleet.kind)
        on_file = prepared if steering is None else replace(prepared, stages=(), trials=())
        begin = partial(_begin, log, on_file, reached, session, taken)
        to_ask = prepared if taken is None else replace(prepared, stages=taken.stages, trials=taken.trials)
        watching.expect(ahead_of(to_ask, is_steered=steering is not None), folder.name)
        driver = _driver(folder.name, log, prepared, taken, watching.observers, simulated=reached.simulated)
        means = Means(folder.name, log, reached.targets, driver.spent, driver.has_room)
        manifest: dict[str, Any] | None = None
        status, shelf = "broken", Shelf()
        try:
            if wanted(to_ask):  # workers are told at their start what was built, and what is paid for is on file before
                manifest = begin()
                shelf = await _built(to_ask, means, manifest, progress)
            handles = await stack.enter_async_context(_fleet(folder, prepared, reached, fleet, shelf))
            watching.tell()
            manifest = begin() if manifest is None else manifest
            folders.note_workers(folder, manifest, [(handle.name, handle.pid, handle.host) for handle in handles])
            await _beforehand(to_ask, means, manifest, progress)
            signals.driving(driver)
            course = None if steering is None else Course(steering, folder, manifest, driver)
            stages = _by_stage(to_ask) if course is None else course.stages(tuple(prepared.questions.values()))
            await driver.drive(stages, handles, reached.simulators)
            if driver.surplus:
                leave_out(folder, driver.surplus)
            status = "interrupted" if driver.interrupted else "complete"
        finally:
            signals.driving(None)
            warnings = [*reached.warnings, *driver.warnings, *troubles_of(shelf.told)]
            if manifest is not None:
                if signals.cut_short:
                    manifest["cut_short_after_s"] = options.deadline_s
                folders.complete(folder, manifest, status=status, watch=driver.watch, warnings=warnings)
        await _linger(watching.endpoint, options.linger_s, progress)
        return Finished(folder, driver.interrupted)


async def _linger(endpoint: Endpoint, linger_s: float, progress: Progress) -> None:
    """Goes on serving metrics, where there are any; a signal ends the wait, not the run."""
    if endpoint.url and linger_s:
        progress.notice(f"metrics stay at {endpoint.url} for {linger_s:g} s")
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(linger_s)


def _begin(
    log: RunLog, prepared: Prepared, reached: Reached, session: folders.Session, taken: resuming.TakenUp | None
) -> dict[str, Any]:
    """Puts on file what is known at the start, and what a run that is taken up had lost."""
    manifest = folders.begin(log.folder, prepared, reached, session, None if taken is None else taken.manifest)
    if taken is not None:
        log.append(taken.lost, {})
    return manifest


async def _built(prepared: Prepared, means: Means, manifest: dict[str, Any], progress: Progress) -> Shelf:
    """What arms have built before the first trial; puts on file what came of it."""
    expected = foreseen(prepared)
    if expected is not None:
        progress.notice(f"building what arms answer from: up to about {expected.prompt_tokens:,} prompt tokens")
    shelf = await build(prepared, means)
    folders.note_built(means.log.folder, manifest, shelf.told)
    for trouble in troubles_of(shelf.told):
        progress.notice(f"warning: {trouble}")
    return shelf


async def _beforehand(prepared: Prepared, means: Means, manifest: dict[str, Any], progress: Progress) -> None:
    """What is asked before the trials of `prepared`: the context probe and the priming of caches. Puts on file what
    came of it, and says what is wrong before it is paid for."""
    folder = means.log.folder
    found = await probe(prepared, means)
    folders.note_safeguards(folder, manifest, found)
    for one in found:
        if one.verdict in ("failed", "warned"):
            progress.notice(f"warning: {one.name} of {one.of} {one.verdict}: {one.sentence}")
    primed = await prime(prepared, means)
    folders.note_priming(folder, manifest, primed)
    for trouble in troubles(primed):
        progress.notice(f"warning: {trouble}")


@asynccontextmanager
async def _fleet(
    folder: Path, prepared: Prepared, reached: Reached, fleet: Fleet, shelf: Shelf
) -> AsyncIterator[list[Handle]]:
    """The workers, ready, over a library of corpus and indexes in a private folder of their own."""
    with tempfile.TemporaryDirectory(prefix="loadrig-") as private:
        library = Path(private)
        await asyncio.to_thread(save, library, _texts(prepared), prepared.indexes)
        setups = [
            Setup(
                folder.name, f"w{number}", prepared.plan, library, reached.targets, prepared.prices, fleet.workers,
                shelf.artefacts,
            )
            for number in range(1, fleet.workers + 1)
        ]  # fmt: skip
        async with fleet.of(setups) as handles:
            yield handles


def _texts(prepared: Prepared) -> Texts:
    """Corpus and questions as the run begins, and what will change; then the quickest index to build is built first."""
    texts = Texts(prepared.corpus, prepared.questions, prepared.version, given=prepared.plan.retriever)
    change = prepared.change
    if change is None or prepared.version != BEFORE:
        return texts
    return replace(texts, update=change.update, rebuilt=changing.quickest_first(prepared.index_ns, prepared.plan))


@dataclass(frozen=True, slots=True)
class _Steered:
    """The usual way of preparing."""

    steering: Steering | None

    def __call__(self, plan: Plan, building: Building) -> Prepared:
        return prepare(plan, steering=self.steering, building=building)


async def _prepared(plan: Plan, progress: Progress, preparing: Preparing) -> Prepared:
    """In a thread, so that signals are heard; one that ends the run ends a build too, which may take long."""
    ended = threading.Event()

    def go_on() -> None:
        if ended.is_set():
            raise Interrupted("stopped while an index was built")

    try:
        return await asyncio.to_thread(preparing, plan, Building(progress.notice, go_on))
    except asyncio.CancelledError:
        ended.set()
        raise


def _driver(
    run: str,
    log: RunLog,
    prepared: Prepared,
    taken: resuming.TakenUp | None,
    observers: Sequence[Observer],
    *,
    simulated: bool,
) -> Driver:
    """The driver, told what an earlier part of the run has spent and put on file."""
    estimate, plan = prepared.estimate, prepared.plan
    spending = Spending(plan.budget, estimate.worst, [arm.name for arm in plan.arms])
    unrun: frozenset[str] = frozenset()
    if taken is not None:
        for record in (*taken.earlier, *taken.lost, *read_probes(log.folder)):
            spending.add(record)
        unrun = frozenset(record.trial for record in taken.earlier if record.outcome == "not_run")
    planned = len(likely(prepared.stages, prepared.trials if taken is None else taken.trials))
    info = RunInfo(run, plan.name, __version__, planned, prepared.prices.currency, simulated=simulated)
    change = None
    if plan.update is not None and prepared.version == BEFORE:
        session = 1 if taken is None else len(taken.manifest["sessions"]) + 1
        change = Changing(plan.update.after_s, session, log)
    return Driver(info, log, observers, spending=spending, unrun=unrun, changing=change)


def _at_most(prepared: Prepared) -> str:
    """What a run that chooses its stages may come to."""
    cost, trials = prepared.estimate.cost, len(likely(prepared.stages, prepared.trials))
    money = "at a cost that is unknown" if cost is None else f"for about {cost:.2f} {prepared.prices.currency}"
    return f"at most {len(prepared.stages)} stages of {trials:,} trials in all, {money}"


def _by_stage(prepared: Prepared) -> Iterable[tuple[Stage, Sequence[Trial]]]:
    grouped: dict[str, list[Trial]] = {stage.name: [] for stage in prepared.stages}
    for trial in prepared.trials:
        grouped[trial.stage].append(trial)
    return [(stage, grouped[stage.name]) for stage in prepared.stages if grouped[stage.name]]


def _taken_up(prepared: Prepared, options: Options) -> tuple[Prepared, resuming.TakenUp | None]:
    """What a resumed run still asks, None for a new one; and all it needs, over the documents that hold by now."""
    if options.resume is None:
        return prepared, None
    run = read_run(options.resume)
    resuming.check_same_plan(run, folders.plan_as_json(prepared.plan), prepared.corpus.sha256)
    changing.check_same(run.path, run.manifest, prepared.change)
    taken = resuming.take_up(run, read_leases(options.resume), retry_failed=options.retry_failed)
    return after_change(prepared) if changing.is_made(run.path, taken.earlier) else prepared, taken


def _confirm(prepared: Prepared, options: Options, reached: Reached, built: Foreseen | None = None) -> None:
    """Raises `InputError` for a run that may cost more than its user knows, what is built before it included."""
    cost, budget = prepared.estimate.cost, prepared.plan.budget.money
    if cost is not None and built is not None:
        cost = None if built.cost is None else cost + built.cost
    if options.confirmed:
        return
    if budget is not None and cost is None:
        raise InputError(
            "a budget in money cannot be kept: a model has no price",
            remedy="add its price to the table that [prices] names, or go on without with --yes",
        )
    if not reached.local and budget is None and cost is not None and cost > ASK_ABOVE:
        raise InputError(
            f"the run is estimated to cost {cost:.2f} {prepared.prices.currency}",
            remedy="confirm with --yes, or set a limit with --budget",
        )
