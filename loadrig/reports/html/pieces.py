"""What sections are made of: figures that say where in summary.json they stand, tables, pictures, links to trials.

Rules: a figure comes out of the summary by a JSON pointer (RFC 6901), which stays with it in the page beside its raw
value, so a reader or a test finds it again. All text is escaped by Jinja; only what is drawn here or by
`loadrig.reports.charts` is taken as HTML. What is not available is `-`, and has no pointer. A link to a trial may name
any trial: the page lists those that no section shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any
from urllib.parse import quote

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from loadrig.analysis.summary import Summary
from loadrig.reports.table import NONE, Table, amount, interval, number, seconds, share
from loadrig.stats import Quantile, Share

environment = Environment(
    loader=PackageLoader("loadrig.reports.html"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that knows more than its text. `pointer`, `value`: where the figure stands in summary.json, and what it is
    there; `small`: a second line, such as an interval; `title`: said under the pointer; `trial`: the id of the trial
    that the figure is of; `own`: that of the trial which this cell's row tells of, to which figures lead."""

    text: str
    pointer: str = ""
    value: str = ""
    small: str = ""
    title: str = ""
    trial: str = ""
    own: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """As `loadrig.reports.table.Table`, with cells that may know more than their text."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    notes: tuple[str, ...] = ()
    words: bool = False


def at(summary: Summary, pointer: str) -> Any:
    """What stands in the summary at a JSON pointer, such as `/arms/0/ttft/successes/p50`."""
    return reduce(_step, pointer.split("/")[1:], summary)


def of_quantile(summary: Summary, pointer: str, *, trial: str = "", small: bool = True) -> Cell:
    """The quantile at the pointer in seconds, its 95 % interval in small, its n and interval as the title."""
    found: Quantile | None = at(summary, pointer)
    if found is None:
        return Cell(NONE)
    between = interval(found)
    told = f"{found.ok} of {found.n}, 95 % interval {between} s"
    cell = Cell(seconds(found), small=between if small else "", title=told, trial=trial)
    of = "beyond_ns" if found.value_ns is None else "value_ns"
    value = getattr(found, of)
    return cell if value is None else replace(cell, pointer=f"{pointer}/{of}", value=str(value))


def of_share(summary: Summary, pointer: str) -> Cell:
    """`17/20` of the share at the pointer, its interval in small; the pointer kept is that of `k`."""
    found: Share | None = at(summary, pointer)
    if found is None:
        return Cell(NONE)
    told, _, between = share(found).partition(" ")
    return Cell(told, f"{pointer}/k", str(found.k), small=between.strip("[]").replace(", ", " to "), title=share(found))


def of_number(summary: Summary, pointer: str, digits: int = 0) -> Cell:
    """The number at the pointer."""
    found: float | None = at(summary, pointer)
    return Cell(NONE) if found is None else Cell(number(found, digits), pointer, msgspec.json.encode(found).decode())


def of_amount(summary: Summary, pointer: str) -> Cell:
    """The money at the pointer, a decimal string, without its currency."""
    found: str | None = at(summary, pointer)
    return Cell(NONE) if found is None else Cell(amount(found), pointer, found, title=found)


def anchor(trial: str) -> str:
    """The id of the element that tells of a trial: `trial-<id>`, what may not stand in an id percent-encoded."""
    return f"trial-{quote(trial, safe='')}"


environment.globals["anchor"] = anchor


def grid(of: Grid | Table) -> Markup:
    """A table with its notes. Its title is left to whoever places it."""
    return Markup(environment.get_template("table.html").render(table=of))  # noqa: S704 - Jinja escaped


def picture(drawn: str, caption: str, *, table: Grid | Table | None = None) -> Markup:
    """A picture of `charts.svg` over its caption, which says what is sampled or binned, and, folded, the same as a
    table: none only where the caption or the section has the figures."""
    template = environment.get_template("picture.html")
    return Markup(  # noqa: S704 - Jinja escaped all but the SVG, in which the XML writer did
        template.render(drawn=Markup(drawn), caption=caption, table=table)  # noqa: S704
    )


def paragraph(text: str) -> Markup:
    """A paragraph of text."""
    return Markup("<p>{}</p>").format(text)


def body(*parts: Markup | None) -> Markup:
    """Parts of a section, one below the other; None is left out."""
    return Markup("\n").join(part for part in parts if part is not None)


def _step(value: Any, name: str) -> Any:
    if value is None:
        return None
    return value[int(name)] if isinstance(value, Sequence) else getattr(value, name)
