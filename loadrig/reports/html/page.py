"""The page around the sections: verdict and warnings first, then the sections, every table of report.md, definitions,
and how the run was made. Jinja escapes by default.

The page forbids itself scripts, plug-ins and all loading from elsewhere, so that even text that slipped through
unescaped could do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from altair.utils.schemapi import debug_mode

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.html import SECTIONS, Maker, Section, made, top
from loadrig.reports.html.behind import trials_behind
from loadrig.reports.html.pieces import environment
from loadrig.reports.markdown import DEFINITIONS, tables
from loadrig.reports.table import bound_notes


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes report.html into the run's folder. What UTF-8 cannot hold is written as an escape."""
    path = run.path / "report.html"
    path.write_text(render(run, summary), encoding="utf-8", errors="backslashreplace", newline="\n")
    return path


def render(run: RunFolder, summary: Summary) -> str:
    """The whole page."""
    sections = dict(_sections(run, summary))
    how, plan = made.grids(run)
    keys = top.keys(summary)
    return environment.get_template("page.html").render(
        summary=summary,
        what=top.what(run, summary),
        told=sorted(top.told(summary), key=lambda line: top.WORST_FIRST.index(line.sign)),
        keys=keys,
        folded=sum(len(one.rows) for one in keys) > top.OPEN_AT_ONCE,
        bound=bound_notes(*(stage.client_bound for stage in summary.stages)),
        sections=sections,
        behind=trials_behind(run, (section.body for section in sections.values())),
        tables=list(tables(summary)),
        definitions=DEFINITIONS,
        how=how,
        plan=plan,
    )


def _sections(run: RunFolder, summary: Summary) -> Iterator[tuple[str, Section]]:
    for anchor, place in SECTIONS.items():
        module, _, name = place.partition(":")
        with debug_mode(False):  # Altair checks every part of a chart against a schema; the tests of the page do that
            section = cast("Maker", getattr(import_module(module), name))(run, summary)
        if section is not None:
            yield anchor, section
