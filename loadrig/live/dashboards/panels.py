"""What a dashboard is made of, as plain values: rows of panels, and their queries. Units are Grafana's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["lines", "bars", "stat", "table"]
Style = Literal["line", "thin", "dotted"]


@dataclass(frozen=True, slots=True)
class Query:
    """An expression and how its lines are named (`{{arm}}` stands for a label's value). `style`: how a line is drawn.
    In a table a query is a column, and `unit` is its unit."""

    expr: str
    legend: str
    style: Style = "line"
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """What a panel shows; `about` is its tooltip. `limits`: values from which on the number is orange, and red; the
    first alone is red. `words`: text and colour in place of a value; `colors`: of lines by name. `rows`: a table's
    label that names its rows, with the column's title; the table is sorted by `sorted_by`, the highest first if it
    begins with "-". `step`: the shortest interval between two points. `empty`: shown where there is no data."""

    title: str
    unit: str
    about: str
    queries: tuple[Query, ...]
    kind: Kind = "lines"
    width: int = 12
    height: int = 8
    limits: tuple[float, ...] = ()
    words: tuple[tuple[str, str, str], ...] = ()
    colors: tuple[tuple[str, str], ...] = ()
    rows: tuple[str, str] = ("", "")
    sorted_by: str = ""
    step: str | None = None
    most: float | None = None
    decimals: int | None = None
    empty: str = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """A heading and the panels under it."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A variable whose values are asked for: `query` in Grafana's words, `pattern` what of an answer is the value.
    `every`: several at once and all of them to begin with; else one, and the first to begin with."""

    name: str
    label: str
    query: str
    pattern: str = ""
    every: bool = True


@dataclass(frozen=True, slots=True)
class Mark:
    """Times that are marked over every chart: those in which the expression has a value."""

    name: str
    expr: str
    color: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard. `spans`: variables that are lengths of time, each with its values, the first to begin with."""

    uid: str
    title: str
    about: str
    since: str
    refresh: str
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...]
    marks: tuple[Mark, ...] = ()
    spans: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
