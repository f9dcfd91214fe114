"""`loadrig study STUDY`: several runs, one after the other, and one report by research question.

A run lies in results/STUDY/RUN. One that is complete there is kept, one that is not is taken up where it stopped, so
the same command goes on after an interruption. A run that was begun under other settings is an error, never mixed. The
budget is over the whole study: each run may spend what those before it left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from loadrig.analysis.study.answers import Part, part_of
from loadrig.analysis.study.whole import Named, study
from loadrig.commands.firing import DONE, FAILED, INTERRUPTED, exit_code
from loadrig.config import read_plan, read_study
from loadrig.execution import folder as folders
from loadrig.execution.embedded import NAME as SIMULATOR
from loadrig.execution.execute import ASK_ABOVE, execute
from loadrig.execution.options import Options, Overrides, overridden
from loadrig.execution.prepare import Prepared, check_budget, prepare
from loadrig.execution.resuming import changed_keys, check_same_plan, take_up
from loadrig.fleet.spending import Spending, WorstCase
from loadrig.graders.standing import graded
from loadrig.live.progress import Progress
from loadrig.log import MANIFEST, RunFolder, read_leases, read_run
from loadrig.reports import write_files
from loadrig.reports.study import markdown as reports
from loadrig.wire.head import is_loopback
from loadrig.words.errors import InputError, Interrupted
from loadrig.words.settings import BudgetSettings, Plan
from loadrig.words.study import StudyRunSettings, StudySettings


@dataclass(frozen=True, slots=True)
class Planned:
    """A run of the study: what it is, its plan with everything laid over it, and where it lies."""

    settings: StudyRunSettings
    plan: Plan
    folder: Path


@dataclass(frozen=True, slots=True)
class Left:
    """What a run still has to do: `missing` of `planned` trials, None of one that has not begun, and `cost` of it by
    the estimate, None when a model has no price. `worst`: one trial's, foreseen."""

    missing: int
    planned: int
    has_begun: bool
    cost: Decimal | None
    worst: WorstCase


def run(path: Path, flags: Overrides, options: Options, *, report_only: bool, console: Console) -> int:
    """Fires what is missing and writes the report; 3 when interrupted, 1 when a run failed more than it may."""
    asked = read_study(path)
    runs = [_planned(asked, one, flags, options.out) for one in asked.run]
    interrupted = False
    if not report_only:
        try:
            interrupted = _fire(runs, options, flags.budget or runs[0].plan.budget.money)
        except KeyboardInterrupt as error:
            raise Interrupted(
                "interrupted between two runs; what is there is kept, the same command goes on"
            ) from error
    code = _report(asked, runs, options.out / asked.name, console)
    return INTERRUPTED if interrupted else DONE if report_only else code


def _planned(asked: StudySettings, one: StudyRunSettings, flags: Overrides, out: Path) -> Planned:
    own = {field.name: getattr(one, field.name) for field in fields(Overrides) if hasattr(one, field.name)}
    given = {
        field.name: value
        for field in fields(Overrides)
        if (value := getattr(flags, field.name)) not in (None, (), False)
    }
    with _named(one.name):
        plan = overridden(read_plan(Path(one.plan or asked.plan)), Overrides(**{**own, **given}))
    return Planned(one, plan, out / asked.name / one.name)


def _fire(runs: Sequence[Planned], options: Options, budget: str | None) -> bool:
    """Whether it was stopped by a signal."""
    with Progress() as progress:
        progress.notice(f"study of {len(runs)} runs: what is there, and what it will cost")
        left: list[Left] = []
        for one in runs:
            with _named(one.settings.name):
                prepared = prepare(_budgeted(one.plan, budget), build=False)
            left.append(_left(one, prepared, retry_failed=options.retry_failed))
        _confirm(runs, left, options, budget)
        _tell(runs, left, progress)
    spent = [_spent(one, of.worst) for one, of in zip(runs, left, strict=True)] if budget is not None else []
    for place, (one, of) in enumerate(zip(runs, left, strict=True)):
        if not of.missing:
            continue
        plan = one.plan
        if budget is not None:
            rest = Decimal(budget) - sum(spent[:place] + spent[place + 1 :], Decimal(0))
            if rest <= spent[place]:
                break
            plan = _budgeted(plan, str(rest))
        how = replace(
            options,
            folder=one.folder,
            resume=one.folder if of.has_begun else None,
            confirmed=options.confirmed or budget is None,
        )
        with Progress() as progress:
            progress.notice(f"run {one.settings.name}: {of.missing} of {of.planned} trials are missing")
            if execute(plan, how, progress).interrupted:
                return True
        if budget is not None:
            spent[place] = _spent(one, of.worst)
    return False


def _left(one: Planned, prepared: Prepared, *, retry_failed: bool) -> Left:
    """Raises `InputError` for a run that was begun under another plan, corpus or slice."""
    planned, cost, worst = len(prepared.trials), prepared.estimate.cost, prepared.estimate.worst
    if not (one.folder / MANIFEST).exists():
        return Left(planned, planned, False, cost, worst)
    begun = read_run(one.folder)
    check_same_plan(begun, folders.plan_as_json(one.plan), prepared.corpus.sha256)
    try:
        missing = len(take_up(begun, read_leases(one.folder), retry_failed=retry_failed).trials)
    except InputError:  # nothing is
        missing = 0
    late = sum((record.outcome, record.reason) == ("not_run", "late") for record in begun.records)
    if begun.manifest.get("status") == "complete" and missing == late:
        missing = 0
    share = None if cost is None else cost * missing / max(1, planned)
    return Left(missing, planned, True, share, worst)


def _confirm(runs: Sequence[Planned], left: Sequence[Left], options: Options, budget: str | None) -> None:
    """Raises `InputError` for a study that may cost more than its user knows."""
    total = sum((of.cost or Decimal(0) for of in left), Decimal(0))
    if options.confirmed or budget is not None or all(_is_local(one.plan) for one in runs) or total <= ASK_ABOVE:
        return
    each = ", ".join(f"{one.settings.name} {of.cost or 0:.2f}" for one, of in zip(runs, left, strict=True))
    raise InputError(
        f"the study is estimated to cost {total:.2f} ({each})",
        remedy="confirm with --yes, or set a limit over all runs with --budget",
    )


def _tell(runs: Sequence[Planned], left: Sequence[Left], progress: Progress) -> None:
    for one, of in zip(runs, left, strict=True):
        state = (
            "to be run"
            if not of.has_begun
            else f"{of.missing} trials to be taken up"
            if of.missing
            else "complete, kept"
        )
        cost = "at a cost that is unknown" if of.cost is None else f"for about {of.cost:.2f}"
        progress.notice(f"{one.settings.name}: {of.planned:,} trials, {state}" + (f", {cost}" if of.missing else ""))
    costs = [of.cost for of in left]
    total = None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))
    progress.notice(
        f"{sum(of.missing for of in left):,} trials in all, "
        + ("at a cost that is unknown" if total is None else f"for about {total:.2f}")
    )


def _report(asked: StudySettings, runs: Sequence[Planned], folder: Path, console: Console) -> int:
    """Writes every run's reports and the study's; raises `InputError` when no run has a folder."""
    there = [one for one in runs if (one.folder / MANIFEST).exists()]
    if not there:
        raise InputError("no run of the study is there", path=folder, remedy="run it without --report-only")
    parts: list[Part] = []
    for one in there:
        begun = graded(read_run(one.folder))
        parts.append(part_of(begun, write_files(begun), name=one.settings.name, about=_about(one, begun)))
    absent = tuple(one.settings.name for one in runs if one not in there)
    named = Named(asked.name, asked.title, asked.known, absent)
    reports.write(study(parts, named), parts, folder, console)
    return FAILED if absent else max(exit_code(one.plan, part.summary) for part, one in zip(parts, there, strict=True))


def _about(one: Planned, begun: RunFolder) -> str:
    """What the study says of the run; and what it no longer has as the run was begun, for a report may come later."""
    changed = changed_keys(begun, folders.plan_as_json(one.plan))
    note = f"begun with other settings than the study has now, its figures are of those: {', '.join(changed)}"
    return "; ".join(filter(None, (one.settings.about, note if changed else "")))


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Says which run of the study an `InputError` is about: what it names may be a file that several runs share."""
    try:
        yield
    except InputError as error:
        problem = f"{error.problem} (run {name!r} of the study)"
        raise InputError(problem, path=error.path, line=error.line, remedy=error.remedy) from error


def _budgeted(plan: Plan, money: str | None) -> Plan:
    """The plan with what it may spend. Raises `InputError` for what is no amount."""
    changed = replace(plan, budget=replace(plan.budget, money=money))
    check_budget(changed)
    return changed


def _spent(one: Planned, worst: WorstCase) -> Decimal:
    """Money that a run has cost so far, by the rule of a run's own budget: what is unknown counts, too."""
    spending = Spending(BudgetSettings(), worst, [arm.name for arm in one.plan.arms])
    if (one.folder / MANIFEST).exists():
        begun = read_run(one.folder)
        for record in (*begun.probes, *begun.records, *begun.superseded):
            spending.add(record)
    return spending.money


def _is_local(plan: Plan) -> bool:
    urls = [model.base_url for model in plan.model]
    return all(url and (url == SIMULATOR or is_loopback(urlsplit(url).hostname or "")) for url in urls)
