"""nightly-PLAN.html, .md and .json: what a question cost last night, and what was unusual about it.

All three are made of the same values (`loadrig.analysis.nightly.whole`): the JSON has them all, the page is fit as a
mail's body, the Markdown has every day and every kind of run besides. Only like runs are added up; each kind has tables
by day of its own, which say what it is of, and arms of one name whose options changed between runs are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from rich.console import Console

from loadrig.analysis.nightly.digest import RunNights
from loadrig.analysis.nightly.kept import all_runs, plan_file
from loadrig.analysis.nightly.usage_report import Row
from loadrig.analysis.nightly.whole import Nightly, Told, nightly
from loadrig.analysis.selection import grouped
from loadrig.log import write_json
from loadrig.reports.markdown import escaped, section
from loadrig.reports.nightly import by_day, page, tables
from loadrig.reports.nightly.said import BAD, Said, headline, said
from loadrig.reports.table import Table
from loadrig.reports.terminal import PAGE, draw
from loadrig.words.errors import InputError, LogError
from loadrig.words.settings import NightlySettings

LONGEST = 3000  # characters of a message: chat programs cut or refuse more
HARMLESS = str.maketrans({"<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "@": "\N{FULLWIDTH COMMERCIAL AT}"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which report: of the plan's runs below `results`, days in its `timezone`. `trouble`, `theirs`: as `Told` has
    them. `today` None: the machine's."""

    results: Path
    plan: str
    timezone: str
    settings: NightlySettings = field(default_factory=NightlySettings)
    trouble: str | None = None
    theirs: tuple[Row, ...] | None = None
    today: date | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """The report and where it lies."""

    nightly: Nightly
    markdown: Path
    html: Path
    json: Path


def write(wanted: Wanted, console: Console | None = None) -> Made:
    """Writes the three files into the results folder and, with a console, shows what matters.

    Raises `InputError` when the plan has no run there or the time zone is unknown.
    """
    zone = _zone(wanted.timezone)
    kept = all_runs(wanted.results, wanted.plan, zone)
    runs = [one.nights for one in kept if one.nights is not None]
    unreadable = tuple(one.trouble for one in kept if one.trouble is not None)
    today = wanted.today or datetime.now(UTC).astimezone(zone).date()
    told = Told(
        wanted.plan, wanted.timezone, wanted.settings, today, wanted.trouble, unreadable, wanted.theirs
    )  # fmt: skip
    found = nightly(runs, told)
    if found is None:
        raise _no_runs(wanted, unreadable)
    sentences, shown = said(found), list(tables.tables(found))
    every_day = list(_by_day(runs, wanted.timezone))
    made = Made(found, *(plan_file(wanted.results, wanted.plan, kind) for kind in ("md", "html", "json")))
    try:
        made.markdown.write_text(markdown(found, sentences, [*shown, *every_day]), encoding="utf-8")
        made.html.write_text(page.render(found, sentences, shown), encoding="utf-8")
    except OSError as error:
        raise LogError(f"the report cannot be written: {error}") from error
    write_json(made.json, found)
    if console is not None:
        _show(made, sentences, shown, console)
    return made


def markdown(found: Nightly, sentences: Iterable[Said], shown: Iterable[Table]) -> str:
    """nightly-PLAN.md."""
    head = f"# Cost per question by night: {escaped(found.plan)}"
    line = headline(found)
    first = "\n".join(f"- {'**' + one.mark + '** ' if one.mark else ''}{escaped(one.text, 2000)}" for one in sentences)
    return "\n\n".join([head, *([escaped(line, 400)] if line else []), first, *map(section, shown)]) + "\n"


def message(made: Made) -> bytes:
    """The body of a webhook: `text`, which chat programs show, and the figures as `nightly` but for those by day, which
    grow with every night. What a name or an error says calls nobody (`<!channel>`, `@all`) and is no link."""
    found = made.nightly
    head = f"loadrig nightly {found.plan}, {found.day}" + (" (simulated)" if found.simulated else "")
    lines = [head, *([line] if (line := headline(found)) else [])]
    lines += [f"{'[!] ' if one.mark == BAD else ''}{one.text}" for one in said(found)]
    figures = {name: value for name, value in msgspec.to_builtins(found).items() if name != "days"}
    return msgspec.json.encode({"text": "\n".join(lines)[:LONGEST].translate(HARMLESS), "nightly": figures})


def _show(made: Made, sentences: Iterable[Said], shown: Iterable[Table], console: Console) -> None:
    if not console.is_terminal:
        console.width = max(console.width, PAGE)
    for table in shown:
        if table.title in tables.ON_SCREEN:
            draw(_flat(table), console)
    for one in sentences:
        console.print(f"{one.mark} {one.text}".strip(), markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report: {made.html}, .md, .json", markup=False, highlight=False, soft_wrap=True)


def _flat(table: Table) -> Table:
    """A cell's lines one behind the other: a terminal has the width."""
    return replace(table, rows=tuple(tuple(cell.replace("\n", " ") for cell in row) for row in table.rows))


def _by_day(runs: Iterable[RunNights], timezone: str) -> Iterator[Table]:
    """By-day and whole-range tables of each kind of run, and by route where there are routes; real before simulated."""
    for kind, found in sorted(grouped((run.kind, run) for run in runs).items()):
        yield from by_day.tables(found, timezone, kind.told)


def _zone(timezone: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InputError(f"unknown time zone {timezone!r}", remedy='write it like "Europe/Berlin"') from error


def _no_runs(wanted: Wanted, unreadable: tuple[str, ...]) -> InputError:
    problem = "; ".join([f"no run of plan {wanted.plan!r} that can be told", *unreadable])
    return InputError(problem, path=wanted.results, remedy="run the plan first, or name its --out folder")
