"""A page about more than one run: several side by side, or two compared. As report.html without script or network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadrig.reports.html import Section
from loadrig.reports.html.pieces import environment


@dataclass(frozen=True, slots=True)
class Sheet:
    """What stands on it: `lead` are sentences below the title, `sections` parts by their anchors."""

    title: str
    note: str | None
    lead: Sequence[str]
    warnings: Sequence[str]
    sections: Mapping[str, Section]


def render(sheet: Sheet) -> str:
    """The whole page."""
    return environment.get_template("sheet.html").render(
        title=sheet.title, note=sheet.note, lead=sheet.lead, warnings=sheet.warnings, sections=sheet.sections
    )
