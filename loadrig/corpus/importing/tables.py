"""Question sets in CSV and JSON Lines, under whatever names their columns have, as lines of a question file.

Rules: CSV has a heading line and UTF-8 text, its cells are parted by the sign that the heading has most of (comma,
semicolon, tab); quoted cells may hold line ends. Lists in a cell are parted by semicolons or upright strokes; in
`must_contain` two strokes stay, as they part alternatives. A question without id is numbered by the file's name, one
without category is `unsorted`, one without reference has an empty one. Columns that are no field are left out.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig.corpus.importing import columns
from loadrig.corpus.jsonl import read_rows
from loadrig.words.errors import InputError

UNSORTED = "unsorted"
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson")
_DELIMITERS = ",;\t"
_PARTED = re.compile(r"[;|]")
_PARTED_ALTERNATIVES = re.compile(r";|(?<!\|)\|(?!\|)")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, and the line on which it begins."""

    line: int
    cells: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of a question file, each with the line of the source it is from, and what was guessed or is missing."""

    questions: tuple[Mapping[str, Any], ...]
    lines: tuple[int, ...]
    notes: tuple[str, ...]


def read_table(path: Path, wanted: Mapping[str, str]) -> Table:
    """Reads a question set; `wanted` maps fields to columns. Raises `InputError` with the line."""
    rows = _rows(path)
    if not rows:
        raise InputError("no row in it", path=path, remedy="name a file with a question in each row")
    headings = list(dict.fromkeys(key for row in rows for key in row.cells))
    chosen = columns.choose(headings, wanted, path)
    seen: dict[str, int] = {}
    questions = [_question(row, chosen, number, path) for number, row in enumerate(rows, start=1)]
    for row, question in zip(rows, questions, strict=True):
        first = seen.setdefault(question["id"], row.line)
        if first != row.line:
            problem = f"question id {question['id']!r} occurs twice, first in line {first}"
            raise InputError(problem, path=path, line=row.line, remedy="give each its own, or leave the column out")
    notes = [*columns.guesses(chosen, wanted), *_missing(chosen)]
    return Table(tuple(questions), tuple(row.line for row in rows), tuple(notes))


def _rows(path: Path) -> list[Row]:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("not a question set that can be read", path=path, remedy="name a .csv, .tsv or .jsonl file")
    if path.suffix.lower() in (".csv", ".tsv"):
        return list(_csv_rows(path))
    remedy = 'each line is an object such as {"question": "...", "answer": "..."}'
    return [Row(line, cells) for line, cells in read_rows(path, dict[str, Any], remedy=remedy)]


def _csv_rows(path: Path) -> Iterator[Row]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path, remedy="name a readable file") from error
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise InputError("not utf-8", path=path, line=line, remedy="save it as UTF-8") from error
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    headings: list[str] = []
    begin = 1
    try:
        for cells in reader:
            if not headings:
                headings = _headings(cells, path)
            elif any(cell.strip() for cell in cells):
                yield Row(begin, dict(zip(headings, _full(cells, headings, path, begin), strict=True)))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"not CSV: {error}", path=path, line=begin, remedy="close its quotation marks, or shorten the cell"
        ) from error


def _headings(cells: Sequence[str], path: Path) -> list[str]:
    headings = [cell.strip() for cell in cells]
    twice = next((name for name in headings if name and headings.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns {twice!r}", path=path, line=1, remedy="give each a heading of its own")
    return headings


def _full(cells: Sequence[str], headings: Sequence[str], path: Path, line: int) -> Sequence[str]:
    if len(cells) != len(headings):
        problem = f"{len(cells)} cells where the heading has {len(headings)}"
        raise InputError(
            problem, path=path, line=line, remedy="put cells that hold the parting sign in quotation marks"
        )
    return cells


def _question(row: Row, chosen: Mapping[str, str], number: int, path: Path) -> Mapping[str, Any]:
    question = _text(row, chosen, "question", path)
    if not question:
        raise InputError("no question in this row", path=path, line=row.line, remedy="write one, or remove the row")
    line: dict[str, Any] = {
        "id": _text(row, chosen, "id", path) or f"{path.stem}-{number}",
        "category": _text(row, chosen, "category", path) or UNSORTED,
        "question": question,
        "reference": _text(row, chosen, "reference", path),
    }
    for name in columns.LISTS:
        parted = _PARTED_ALTERNATIVES if name == "must_contain" else _PARTED
        if name in chosen and (values := _list(row, chosen[name], path, parted)):
            line[name] = values
    return line


def _text(row: Row, chosen: Mapping[str, str], name: str, path: Path) -> str:
    """A cell as text; of a list its first item, as sets with several right answers have them."""
    value = row.cells.get(chosen.get(name, ""), "")
    if isinstance(value, list):
        value = value[0] if value else ""
    if value is None or isinstance(value, str | int | float):
        return "" if value is None else str(value).strip()
    problem = f"{chosen[name]!r} holds {type(value).__name__} where a text is wanted"
    raise InputError(problem, path=path, line=row.line, remedy="make it a text")


def _list(row: Row, column: str, path: Path, parted: re.Pattern[str]) -> list[str]:
    value = row.cells.get(column)
    if isinstance(value, str):
        value = parted.split(value)
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        if value is None:
            return []
        raise InputError(f"{column!r} is no list of texts", path=path, line=row.line, remedy="part texts by semicolons")
    return [text for item in value if (text := str(item).strip())]


def _missing(chosen: Mapping[str, str]) -> Iterator[str]:
    if "reference" not in chosen:
        yield "no column looks like the reference answer: answers cannot be graded"
    if "category" not in chosen:
        yield f"no column looks like the category: all are {UNSORTED!r}"
    if "gold" not in chosen:
        yield "no column looks like the gold documents: no recall is shown"
