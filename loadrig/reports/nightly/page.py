"""nightly-PLAN.html: a page that is fit to be a mail's body.

Rules: no script, no picture, nothing loaded, no style sheet (mail programs drop it): what style there is stands on the
elements. Neither text nor background has a colour of its own, so that a dark mode harms nothing. A table is cut at
`MOST` rows, and says so: the page stays under 200 kB whatever a plan has. Jinja escapes everything by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jinja2 import Environment, PackageLoader, StrictUndefined

from loadrig.analysis.nightly.whole import Nightly
from loadrig.reports.nightly.said import Said
from loadrig.reports.table import Table, one_line

MOST, LONGEST = 60, 80
environment = Environment(
    loader=PackageLoader("loadrig.reports.nightly"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(found: Nightly, sentences: Iterable[Said], shown: Iterable[Table]) -> str:
    """The whole page."""
    template = environment.get_template("nightly.html")
    sentences = [Said(one.mark, one_line(one.text, 1000)) for one in sentences]
    return template.render(nightly=found, sentences=sentences[:MOST], tables=list(map(_cut, shown)), lines=_lines)


def _cut(table: Table) -> Table:
    left = len(table.rows) - MOST
    if left <= 0:
        return table
    return replace(table, rows=table.rows[:MOST], notes=(f"{left} more rows are in the .md file", *table.notes))


def _lines(cell: str) -> list[str]:
    """A cell's lines, each made harmless and short."""
    return [one_line(line, LONGEST) for line in cell.split("\n")]
