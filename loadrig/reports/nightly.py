"""nightly-PLAN.md: the cost of a question by arm and local day, from all runs of a plan.

Only like runs are added up: of one corpus (its hash) cut in one way, one file of questions to one limit, the same
models asked in the same way, all simulated or all real, in one currency. Each kind has tables of its own, which say
what it is of; arms of one name whose options changed between runs are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from rich.console import Console

from loadrig.analysis.bill import PerQuestion, currency_of
from loadrig.analysis.days import Nights, nights
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import SIMULATED
from loadrig.log import MANIFEST, RECORDS, RunFolder, read_run
from loadrig.reports.markdown import escaped, section
from loadrig.reports.table import Table, amount, label, money, number
from loadrig.reports.terminal import PAGE, draw
from loadrig.words.errors import InputError

_UNSAFE = re.compile(r"[^\w.-]")


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """What runs must have in common to stand in one table: real before simulated. `corpus` names it and its hash."""

    simulated: bool
    currency: str
    corpus: str
    questions: str
    models: str


class _PlanName(msgspec.Struct):
    name: str = ""


class _Manifest(msgspec.Struct):
    plan: _PlanName = msgspec.field(default_factory=_PlanName)


def write(results: Path, plan: str, timezone: str, console: Console | None = None) -> Path:
    """Writes `nightly-PLAN.md` into the results folder, shows its tables on the console, and returns its path.

    Raises `InputError` when the plan has no run there or the time zone is unknown.
    """
    tables = list(nightly_tables(results, plan, timezone))
    path = results / f"nightly-{_UNSAFE.sub('-', plan)}.md"
    path.write_text(render(plan, tables), encoding="utf-8")
    if console is not None:
        if not console.is_terminal:
            console.width = max(console.width, PAGE)
        for table in tables:
            draw(table, console)
        console.print(f"Report: {path}", markup=False)
    return path


def render(plan: str, tables: list[Table]) -> str:
    """The Markdown of the tables."""
    return "\n\n".join([f"# Cost per question by day: {escaped(plan)}", *(section(table) for table in tables)]) + "\n"


def nightly_tables(results: Path, plan: str, timezone: str) -> Iterator[Table]:
    """By-day and whole-range tables of each kind of run, and by route where there are routes; real before simulated."""
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InputError(f"unknown time zone {timezone!r}", remedy='write it like "Europe/Berlin"') from error
    runs = list(_runs(results, plan))
    if not runs:
        raise InputError(
            f"no run of plan {plan!r}", path=results, remedy="run the plan first, or name its --out folder"
        )
    kinds = grouped((kind_of(run), run) for run in runs)
    for kind, found in sorted(kinds.items()):
        yield from _tables(nights(found, zone), timezone, (f"of {kind.corpus}, {kind.questions}", *_changed(found)))


def kind_of(run: RunFolder) -> Kind:
    """The kind of a run, from its manifest; where the run was simulated, any address of the simulator is alike."""
    plan, corpus = run.manifest.get("plan") or {}, run.manifest.get("corpus") or {}
    cut, asked = plan.get("corpus") or {}, plan.get("questions") or {}
    simulated = bool(run.manifest.get("simulated"))
    models = [{name: of for name, of in model.items() if not (simulated and name == "base_url")}
              for model in plan.get("model") or []]  # fmt: skip
    chunks = f"chunks of {cut.get('chunk_tokens')}, {cut.get('chunk_overlap')} over"
    limit = f", the first {asked['limit']}" if asked.get("limit") else ""
    return Kind(
        simulated=simulated,
        currency=currency_of(run) or "",
        corpus=f"corpus {corpus.get('name')} {str(corpus.get('sha256'))[:12]} in {chunks}",
        questions=f"questions {asked.get('path')}{limit}",
        models=msgspec.json.encode(models).decode(),
    )


def _changed(runs: Iterable[RunFolder]) -> Iterator[str]:
    """Arms whose options are not the same in all of the runs."""
    options = grouped(
        (str(arm.get("name")), msgspec.json.encode(arm))
        for run in runs for arm in (run.manifest.get("plan") or {}).get("arms") or []
    )  # fmt: skip
    changed = [name for name, found in options.items() if len(set(found)) > 1]
    if changed:
        yield f"not alike in all of these runs are the options of {', '.join(changed)}"


def _runs(results: Path, plan: str) -> Iterator[RunFolder]:
    """Runs of other plans are not read, so a broken one does no harm."""
    for path in sorted(results.glob(f"*/{MANIFEST}")):
        try:
            named = msgspec.json.decode(path.read_bytes(), type=_Manifest).plan.name
        except msgspec.DecodeError as error:
            raise InputError(f"not a manifest: {error}", path=path, remedy="move that folder out of results") from error
        if named == plan and (path.parent / RECORDS).is_file():
            yield read_run(path.parent)


def _tables(found: Nights, timezone: str, said: tuple[str, ...]) -> Iterator[Table]:
    models = list(dict.fromkeys(day.model for day in found.days))
    unit = found.currency or "cost"
    spent = (
        "spent", "asked", f"{unit}/asked", "answered", f"{unit}/answered", "correct", f"{unit}/correct",
    )  # fmt: skip
    other = [(day, "other (before, warm-up, asked again)", money(sum_of), *["-"] * 6) for day, sum_of in found.other]
    total = ("all", "whole bill", money(found.total), *["-"] * 6)
    rows = [(day.day, label(day.arm, day.model, models), *_cells(day.cost)) for day in found.days] + other
    kind = "Simulated runs" if found.simulated else "Runs"
    notes = [
        *said,
        f"runs: {found.runs}; days of {timezone}; a trial's day is that on which it began",
        "all rows together are the whole bill",
        "asked: measured and tail trials; correct by pre-check",
    ]
    if found.simulated:
        notes.insert(0, SIMULATED)
    yield Table(f"{kind}: by day", ("day", "arm", *spent), (*sorted(rows, key=lambda row: row[0]), total), tuple(notes))
    whole = tuple((label(day.arm, day.model, models), *_cells(day.cost)) for day in found.arms)
    notes_of_all = (*((SIMULATED,) if found.simulated else ()), *said)
    yield Table(f"{kind}: all days", ("arm", *spent), whole, notes_of_all)
    ways = tuple((day.day, label(day.arm, day.model, models), day.way or "", *_cells(day.cost)) for day in found.ways)
    if ways:
        yield Table(f"{kind}: by route", ("day", "arm", "route", *spent), ways, notes_of_all)


def _cells(cost: PerQuestion) -> tuple[str, ...]:
    return (
        money(cost.total), str(cost.asked), amount(cost.per_asked), str(cost.answered), amount(cost.per_answered),
        number(cost.correct), amount(cost.per_correct),
    )  # fmt: skip
