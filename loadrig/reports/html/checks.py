"""Safeguards, the worst first, and the artefacts of the instrument that look like findings."""

from __future__ import annotations

from markupsafe import Markup

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.html import Section
from loadrig.reports.html.pieces import Cell, Grid, body, environment, grid, paragraph
from loadrig.reports.markdown import NOT_CHECKED
from loadrig.reports.safeguards import headline
from loadrig.reports.table import NONE
from loadrig.words.safeguard import WORST_FIRST


def section(_: RunFolder, summary: Summary) -> Section | None:
    """None where nothing was checked."""
    if not summary.safeguards:
        return None
    ordered = sorted(enumerate(summary.safeguards), key=lambda one: WORST_FIRST.index(one[1].verdict))
    html = environment.get_template("checks.html").render(checks=[one for _, one in ordered])
    artefacts = Grid(
        "Artefacts",
        ("verdict", "artefact", "what it looks like", "checks for it"),
        tuple(
            (
                Cell(one.verdict, f"/artefacts/{place}/verdict", one.verdict),
                one.name,
                one.looks_like,
                ", ".join(one.checks),
            )
            for place, one in enumerate(summary.artefacts)
        ),
        words=True,
    )
    return Section(
        "Safeguards and artefacts",
        body(
            paragraph(headline(summary)),
            Markup(html),  # noqa: S704 - Jinja escaped
            Markup("<h3>Artefacts that look like findings</h3>"),
            paragraph(NOT_CHECKED),
            grid(artefacts),
        ),
    )


def told(value: float | str | None) -> str:
    """A figure of a check as it is shown."""
    return NONE if value is None else f"{value:g}" if isinstance(value, float) else str(value)


environment.filters["told"] = told
