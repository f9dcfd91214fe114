"""The page around the sections: verdict and warnings first, every table of report.md last. Jinja escapes by default.

The page forbids itself scripts, plug-ins and all loading from elsewhere, so that even text that slipped through
unescaped could do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.html import SECTIONS, Maker, Section
from loadrig.reports.html.pieces import environment
from loadrig.reports.markdown import tables


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes report.html into the run's folder."""
    path = run.path / "report.html"
    path.write_text(render(run, summary), encoding="utf-8")
    return path


def render(run: RunFolder, summary: Summary) -> str:
    """The whole page."""
    template = environment.get_template("page.html")
    sections = dict(_sections(run, summary))
    return template.render(summary=summary, sections=sections, tables=list(tables(summary)))


def _sections(run: RunFolder, summary: Summary) -> Iterator[tuple[str, Section]]:
    for anchor, place in SECTIONS.items():
        module, _, name = place.partition(":")
        section = cast("Maker", getattr(import_module(module), name))(run, summary)
        if section is not None:
            yield anchor, section
