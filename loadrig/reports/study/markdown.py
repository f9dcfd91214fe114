"""study.md and study.json: a study by research question, its findings in words before their tables.

What a model, a document or a study's file says is data: it can neither end a cell nor start a link, a tag or a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from loadrig.analysis.selection import grouped
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding
from loadrig.analysis.study.whole import Section, Study
from loadrig.log import write_json
from loadrig.reports import safeguards
from loadrig.reports.markdown import escaped, section
from loadrig.reports.study import tables
from loadrig.reports.table import Table, one_line
from loadrig.reports.terminal import PAGE, draw
from loadrig.words.safeguard import WORST_FIRST

NAMES = ("study.md", "study.json")
STRENGTHS = (
    "Behind each sentence stands how far it reaches: **result**, it passes its test over questions; **lead**, one "
    "question stands out, with its repetitions pooled; **inside noise**, tested and not beyond chance; "
    "**description**, a figure without a test; **cannot be told**, with what is missing."
)
INDICATOR = (
    "This is an indicator of which effects to watch for when choosing, no ranking of architectures or models. The "
    "runs' own reports stand in their folders."
)
CUT, LONG = 390, 4000
KEPT = ("result", "lead")


def write(study: Study, parts: Sequence[Part], folder: Path, console: Console | None = None) -> Path:
    """Writes both files into the study's folder, shows the sentences on the console, and returns the path of
    study.md."""
    path = folder / NAMES[0]
    path.write_text(render(study, parts), encoding="utf-8")
    write_json(folder / NAMES[1], study)
    if console is not None:
        _show(study, console)
        console.print(f"Report: {path}", markup=False)
    return path


def render(study: Study, parts: Sequence[Part]) -> str:
    """The Markdown."""
    found = (*_head(study), *_instrument(parts), _short(study), *_answers(study, parts), *_tail(study))
    return "\n\n".join(found) + "\n"


def _head(study: Study) -> Iterator[str]:
    yield f"# {escaped(study.title)}"
    if study.note:
        yield f"> **{escaped(study.note)}**"
    yield INDICATOR
    yield section(tables.runs(study))
    about = [f"- **{escaped(one.name)}**: {escaped(one.about)}" for one in study.runs if one.about]
    if about:
        yield "\n".join(about)
    differences = tables.differences(study)
    if differences is not None:
        yield section(differences)


def _instrument(parts: Sequence[Part]) -> Iterator[str]:
    """What the safeguards found, and what the control knew, before any finding."""
    lines = [
        "## Safeguards and artefacts",
        "",
        "A fault of the instrument can look like a finding; these come first.",
        "",
    ]
    for part in parts:
        lines.append(f"- **{escaped(part.name)}**: {escaped(safeguards.headline(part.summary))}")
        lines += [
            f"    - {escaped(safeguards.line(one, part.summary), CUT)}" for one in safeguards.troubles(part.summary)
        ]
    yield "\n".join(lines)
    yield section(_artefacts(parts))
    yield "\n".join(["## Dropped: what the control answered rightly", "", *_dropped(parts)])


def _artefacts(parts: Sequence[Part]) -> Table:
    names = {one.name: one for part in parts for one in part.summary.artefacts}
    rows = []
    for name, of in names.items():
        found = {part.name: one.verdict for part in parts for one in part.summary.artefacts if one.name == name}
        rows.append((name, of.looks_like, ", ".join(of.checks), *(found.get(part.name, "-") for part in parts)))
    headers = ("artefact", "would look like", "checks", *(part.name for part in parts))
    return Table(
        "Artefacts that look like findings", headers, tuple(rows), (f"the worst verdict of {', '.join(WORST_FIRST)}",)
    )


def _dropped(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        drops = part.summary.dropped
        asked = len(part.run.questions)
        named = ", ".join(f"{one.question} ({one.model})" for one in drops)
        said = f"{len(drops)} of {asked} questions by {len(part.models)} models" + (f": {named}" if drops else "")
        yield f"- **{escaped(part.name)}**: {escaped(said, CUT)}"


def _short(study: Study) -> str:
    """What is beyond noise, what is a lead, and which criteria hold."""
    every = [one for section_of in study.sections for one in section_of.findings]
    kept = [one for strength in KEPT for one in every if one.strength == strength]
    lines = ["## In short", "", *map(_line, kept)]
    tested = sum(one.strength == "inside noise" for one in every)
    lines.append(
        f"- {tested} sentences more were tested and are inside noise: decide there on cost, latency and complexity"
        if tested
        else "- nothing else was tested"
    )
    held = [one for one in study.criteria if one.verdict == "holds"]
    for choice, of in grouped((one.choice, one) for one in held).items():
        named = grouped((one.criterion, one.of) for one in of if one.of)
        said = [f"{one.criterion}{_of(named.get(one.criterion, []))}" for one in of]
        lines.append(f"- for {escaped(choice)}: {escaped('; '.join(dict.fromkeys(said)), LONG)} **(criterion)**")
    return "\n".join(lines)


def _of(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _answers(study: Study, parts: Sequence[Part]) -> Iterator[str]:
    yield f"## Findings, by research question\n\n{STRENGTHS}"
    for one in study.sections:
        if one.id.startswith("RQ"):
            yield from _section(one, study, parts)
    yield "\n\n".join(
        (
            "## RQ5 Criteria",
            "*When is which architecture to be chosen, by these figures?* Each criterion is told with the figures of "
            "this corpus; one that holds is a reason, and none of them decides alone.",
            _below(tables.criteria(study)),
        )
    )
    for one in study.sections:
        if not one.id.startswith("RQ"):
            yield from _section(one, study, parts)


def _section(one: Section, study: Study, parts: Sequence[Part]) -> Iterator[str]:
    title = one.title if one.id == one.title else f"{one.id} {one.title}"
    yield f"## {escaped(title)}\n\n*{escaped(one.asks)}*"
    ordered = sorted(one.findings, key=lambda finding: finding.strength not in KEPT)
    yield "\n".join(map(_line, ordered)) if ordered else "Nothing here could be told."
    yield from (_below(table) for table in tables.of_section(study, parts, one.id))


def _tail(study: Study) -> Iterator[str]:
    yield "\n".join(("## Limits", "", *(f"- {escaped(line, CUT)}" for line in study.limits)))
    yield "\n".join(
        ("## What transfers", "", "Effects to look for elsewhere, not their sizes:", "",
         *(f"- {escaped(line, CUT)}" for line in study.transfers))
    )  # fmt: skip


def _line(one: Finding) -> str:
    return f"- {escaped(one.text, LONG)} **({one.strength})**"


def _below(table: Table) -> str:
    """A table under a heading one level down."""
    return f"#{section(table)}"


def _show(study: Study, console: Console) -> None:
    if not console.is_terminal:
        console.width = max(console.width, PAGE)
    console.print(Text(one_line(f"Study {study.name}: {study.title}"), style="bold"))
    if study.note:
        console.print(Panel(Text(study.note), style="yellow", expand=False))
    draw(tables.runs(study), console)
    for one in study.sections:
        console.print(Text(f"{one.id}: {one.asks}", style="bold"))
        kept = [finding for finding in one.findings if finding.strength in ("result", "lead", "cannot be told")]
        for finding in kept:
            console.print(Text(f"- {one_line(finding.text, 600)} ({finding.strength})"))
        quiet = len(one.findings) - len(kept)
        if quiet:
            console.print(Text(f"  {quiet} descriptions and findings inside noise in study.md", style="dim"))
    held = sum(one.verdict == "holds" for one in study.criteria)
    unknown = sum(one.verdict == "cannot be told" for one in study.criteria)
    console.print(
        Text(
            f"RQ5: of {len(study.criteria)} criteria {held} hold, {unknown} cannot be told; see study.md", style="bold"
        )
    )
