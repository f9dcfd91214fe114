"""Writes several runs side by side: report.html, report.md with its pictures, and figures.json."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from loadrig.analysis.beside import Setting
from loadrig.analysis.summary import SCHEMA, SIMULATED, Summary
from loadrig.log import write_json
from loadrig.reports import charts, markdown
from loadrig.reports.beside import charts as drawn
from loadrig.reports.beside.figures import Figure, figures
from loadrig.reports.html import Section
from loadrig.reports.html.drawing import labels
from loadrig.reports.html.pieces import body, grid, picture
from loadrig.reports.html.sheet import Sheet, render
from loadrig.reports.pictures import FOLDER, SCALE, Picture
from loadrig.reports.table import NONE, Table, label

NAMES = ("report.html", "report.md", "figures.json")
LEAD = (
    "Side by side is no comparison: nothing here says whether two runs differ by more than chance. The command compare "
    "does, question by question, of two runs."
)


@dataclass(frozen=True, slots=True)
class Run:
    """A run, and where its own report lies."""

    folder: Path
    summary: Summary


@dataclass(frozen=True, slots=True)
class Written:
    """What figures.json holds."""

    schema: int
    simulated: bool
    note: str | None
    runs: tuple[str, ...]
    folders: tuple[str, ...]
    settings: tuple[Setting, ...]
    figures: tuple[Figure, ...]


def write(out: Path, runs: Sequence[Run], settings: Sequence[Setting], files: Sequence[str] = NAMES) -> None:
    """Those of `NAMES` that are named in `files`, into the folder `out`, which is made. Runs of one kind only: all
    simulated, or none."""
    summaries = [run.summary for run in runs]
    names, simulated = labels(summary.identity.run for summary in summaries), any(one.simulated for one in summaries)
    kept = Written(
        schema=SCHEMA,
        simulated=simulated,
        note=SIMULATED if simulated else None,
        runs=tuple(summary.identity.run for summary in summaries),
        folders=tuple(str(run.folder) for run in runs),
        settings=tuple(settings),
        figures=figures(summaries),
    )
    over = {"latency": drawn.latency(kept.figures, names), "cost": drawn.cost(summaries, names)}
    overlaid = {name: one for name, one in over.items() if one is not None}
    tables = [_runs(runs, names), _settings(settings, names), *(_table(figure, names) for figure in kept.figures)]
    sheet = _sheet(runs, kept, overlaid, tables)
    out.mkdir(parents=True, exist_ok=True)
    if "figures.json" in files:
        write_json(out / "figures.json", kept)
    if "report.html" in files:
        (out / "report.html").write_text(render(sheet), encoding="utf-8")
    if "report.md" in files:
        lines = _lines(sheet, list(_pictures(out, overlaid)), tables)
        (out / "report.md").write_text("\n\n".join(lines) + "\n", encoding="utf-8")


def _runs(runs: Sequence[Run], names: Sequence[str]) -> Table:
    rows = tuple(
        (name, run.summary.identity.plan, str(run.summary.identity.status), str(run.summary.identity.began_at or NONE),
         str(run.summary.counts[0].planned), str(run.summary.counts[0].answered), str(run.summary.counts[0].failed),
         str(run.folder))
        for name, run in zip(names, runs, strict=True)
    )  # fmt: skip
    headers = ("run", "plan", "status", "began", "planned", "answered", "failed", "folder")
    return Table("Runs", headers, rows, words=True)


def _settings(settings: Sequence[Setting], names: Sequence[str]) -> Table:
    rows = tuple((one.what, *one.values, "yes" if one.counted else "no") for one in settings)
    notes = (
        "each held against the first; counted: what a comparison is made to vary, others are chance and surroundings",
        "more than one that counts: nobody can say which of them made a difference",
    )
    return Table(
        "What differs in the settings",
        ("setting", *names, "counted"),
        rows,
        notes if rows else ("nothing that was checked",),
        words=True,
    )


def _table(figure: Figure, names: Sequence[str]) -> Table:
    models = list(dict.fromkeys(row.model for row in figure.rows))
    stages = {row.stage for row in figure.rows}
    rows = tuple(
        (
            label(row.arm, row.model, models) + (f", {row.stage}" if len(stages) > 1 else ""),
            *(NONE if value is None else value.text for value in row.values),
        )
        for row in figure.rows
    )
    unit = {"ns": ", s", "share": "", "tokens": ""}.get(figure.unit, f", {figure.unit}")
    return Table(f"{figure.name}{unit}", ("arm" if len(stages) < 2 else "arm, stage", *names), rows)


def _sheet(runs: Sequence[Run], kept: Written, overlaid: dict[str, drawn.Drawn], tables: Sequence[Table]) -> Sheet:
    titled = {table.title: table for table in tables}
    warnings = [
        f"{run.summary.identity.run}: {warning}" for run in runs for warning in run.summary.warnings
    ]  # fmt: skip
    sections = {
        "runs": Section("Runs", grid(titled.pop("Runs"))),
        "settings": Section("What differs in the settings", grid(titled.pop("What differs in the settings"))),
    }
    for name, (chart, text) in overlaid.items():
        title = {"latency": "Latency", "cost": "Cost against accuracy"}[name]
        sections[name] = Section(title, picture(charts.svg(chart, text), text))
    sections["figures"] = Section("Figures", body(*map(_under, titled.values())))
    title = f"{len(runs)} runs side by side"
    return Sheet(title, kept.note, (LEAD,), warnings, sections)


def _under(table: Table) -> Markup:
    return Markup("<h3>{}</h3>").format(table.title) + grid(table)


def _pictures(out: Path, overlaid: dict[str, drawn.Drawn]) -> Iterator[Picture]:
    for name, (chart, text) in overlaid.items():
        path = out / FOLDER / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(charts.png(chart, scale=SCALE))
        yield Picture(f"{FOLDER}/{name}.png", text)


def _lines(sheet: Sheet, pictures: Sequence[Picture], tables: Sequence[Table]) -> Iterator[str]:
    yield f"# {markdown.escaped(sheet.title)}"
    if sheet.note:
        yield f"> **{markdown.escaped(sheet.note)}**"
    yield from map(markdown.escaped, sheet.lead)
    if sheet.warnings:
        yield "\n".join(("**Warnings**", "", *(f"- {markdown.escaped(one)}" for one in sheet.warnings)))
    yield from map(markdown.shown, pictures)
    yield from map(markdown.section, tables)
