"""nightly-PLAN.html: a page that is fit to be a mail's body.

Rules: no script, no picture, nothing loaded, no style sheet (mail programs drop it): what style there is stands on the
elements. Neither text nor background has a colour of its own, and that of lines and bars is seen on light and dark, so
a dark mode harms nothing. A table is cut at `MOST` rows, and says so: the page stays under 200 kB whatever a plan has.
Jinja escapes everything by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jinja2 import Environment, PackageLoader, StrictUndefined

from loadrig.analysis.nightly.standing import JUDGED
from loadrig.analysis.nightly.whole import Nightly
from loadrig.reports.nightly.said import Said, headline
from loadrig.reports.nightly.tables import BLOCKS
from loadrig.reports.table import Table, one_line

MOST, LONGEST, SHORT = 60, 80, 20
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
    tables = list(map(_cut, shown))
    return template.render(
        nightly=found, headline=headline(found), sentences=sentences[:MOST], tables=tables, lines=_lines,
        is_bar=_is_bar, is_whole=_is_whole, is_judged=found.standing in JUDGED,
    )  # fmt: skip


def _cut(table: Table) -> Table:
    left = len(table.rows) - MOST
    if left <= 0:
        return table
    return replace(table, rows=table.rows[:MOST], notes=(f"{left} more rows are in the .md file", *table.notes))


def _lines(cell: str) -> list[str]:
    """A cell's lines, each made harmless and short."""
    return [one_line(line, LONGEST) for line in cell.split("\n")]


def _is_whole(cell: str) -> bool:
    """Whether a cell's lines are not to be broken: short ones, but for an interval, which is as wide as a column."""
    return all(len(line) <= SHORT and not line.startswith("[") for line in cell.split("\n"))


def _is_bar(line: str) -> bool:
    return bool(line) and set(line) <= set(BLOCKS)
