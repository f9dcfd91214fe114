"""A grading sheet as a file: CSV, or XLSX through openpyxl. Knows columns, not what is in them.

CSV is written with a byte order mark, for spreadsheets guess wrongly without, every cell quoted. It is read as it comes
back: with commas, semicolons or tabs, in UTF-8 or UTF-16. XLSX is there because its cells say that they are text:
graders may open it by double click, where a CSV's cells are guessed at; writing that format by hand would be the larger
risk.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import openpyxl
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._write_only import WriteOnlyWorksheet

from loadrig.words.errors import InputError

CODE = "code"
WIDTHS = {"question": 40, "reference": 40, "superseded": 25, "quotes": 40, "note": 40}
ANSWER_WIDTH, MARK_WIDTH = 60, 10
MARKS = ("correct", "stale", "invented", "score")
_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")  # `_x0041_` is an A to a reader of XLSX
_ESCAPED = re.compile(r"_x005F_(?=x[0-9A-Fa-f]{4}_)")
_REMEDY = "save the sheet as CSV (UTF-8) or XLSX"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a sheet, by its number there (the header is 1): cells by column."""

    number: int
    cells: dict[str, str]


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Writes a sheet, XLSX where the name says so, else CSV. Raises `InputError` where it cannot be written."""
    try:
        if path.suffix.lower() == ".xlsx":
            _write_xlsx(path, header, rows)
        else:
            with path.open("w", encoding="utf-8-sig", newline="") as file:
                sheet = csv.writer(file, quoting=csv.QUOTE_ALL)
                sheet.writerow(header)
                sheet.writerows(rows)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", path=path, remedy="name another file") from error


def read(path: Path) -> list[Line]:
    """The rows of a sheet; wholly empty ones are left out. Raises `InputError` for what is no sheet."""
    if not path.is_file():
        raise InputError("no such sheet", path=path, remedy="name the graded sheet")
    rows = _read_xlsx(path) if path.suffix.lower() in (".xlsx", ".xlsm") else _read_csv(path)
    header = [cell.strip().lower() for cell in next(rows, [])]
    if CODE not in header:
        found = ", ".join(filter(None, header[:8])) or "nothing"
        raise InputError(f"no column {CODE!r}; the first row has {found}", path=path, line=1, remedy=_REMEDY)
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(f"two columns {twice[0]!r}", path=path, line=1, remedy="keep the exported columns as they are")
    padding = [""] * len(header)
    lines = (Line(n, dict(zip(header, [*cells, *padding], strict=False))) for n, cells in enumerate(rows, start=2))
    return [line for line in lines if any(cell.strip() for cell in line.cells.values())]


def _write_xlsx(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("answers")
    sheet.freeze_panes = "B2"
    for column, name in enumerate(header, start=1):
        width = MARK_WIDTH if name in (CODE, *MARKS) else WIDTHS.get(name, ANSWER_WIDTH)
        sheet.column_dimensions[get_column_letter(column)].width = width
    sheet.append([_text_cell(sheet, name, bold=True) for name in header])
    for row in rows:
        sheet.append([_text_cell(sheet, text) if text else None for text in row])
    book.save(path)


def _text_cell(sheet: WriteOnlyWorksheet, text: str, *, bold: bool = False) -> Cell:
    cell = WriteOnlyCell(sheet, _ESCAPE.sub("_x005F_", text))
    cell.data_type = "s"  # openpyxl takes `=1` for a formula and `#N/A` for an error
    cell.number_format = "@"
    cell.alignment = Alignment(wrap_text=True, vertical="top")
    if bold:
        cell.font = Font(bold=True)
    return cell


def _read_xlsx(path: Path) -> Iterator[list[str]]:
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, InvalidFileException) as error:
        raise InputError(f"not an XLSX file: {error}", path=path, remedy=_REMEDY) from error
    try:
        for row in book.worksheets[0].iter_rows(values_only=True):
            yield [_plain(value) for value in row]
    finally:
        book.close()


def _plain(value: object) -> str:
    """A cell's value as a CSV would have it: a mark that a spreadsheet keeps as a number is `1`, not `1.0`."""
    if value is None:
        return ""
    if isinstance(value, bool | float) and value == int(value):
        return str(int(value))
    return _ESCAPED.sub("_", str(value))


def _read_csv(path: Path) -> Iterator[list[str]]:
    data = path.read_bytes()
    if data[:4] == b"PK\x03\x04":
        raise InputError("a spreadsheet file under a name that is not .xlsx", path=path, remedy=_REMEDY)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(f"not {encoding.removesuffix('-sig')}", path=path, line=line, remedy=_REMEDY) from error
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", path=path, remedy=_REMEDY) from error
