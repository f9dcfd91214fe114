"""Sheets as files: CSV and XLSX written, read, and read as other programs write them."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from test_cells import TEXTS

from loadrig.graders.cells import cells, joined, shown
from loadrig.graders.sheet import read, write
from loadrig.words.errors import InputError

HEADER = ("code", "answer", "correct")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@settings(max_examples=60, deadline=None)
@given(text=TEXTS)
def test_what_is_written_is_read(suffix: str, text: str) -> None:
    """Any text, through a file of either kind: formulas, quotes, line ends, control characters, other scripts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sheet{suffix}"
        write(path, HEADER, [("BCDFGH", cells(text)[0], "1")])
        (line,) = read(path)
    assert (joined([line.cells["answer"]]), line.cells["correct"]) == (shown(text), "1")


def test_an_xlsx_cell_is_text_and_no_formula(tmp_path: Path) -> None:
    """`=1+1` is a string to whoever opens it, even without the apostrophe; so is `#N/A`, which is no error."""
    write(tmp_path / "s.xlsx", HEADER, [("BCDFGH", "=1+1", "#N/A")])
    row = openpyxl.load_workbook(tmp_path / "s.xlsx").worksheets[0][2]
    assert [(cell.value, cell.data_type, cell.number_format) for cell in row[1:]] == [
        ("=1+1", "s", "@"),
        ("#N/A", "s", "@"),
    ]


def test_a_csv_opens_as_utf_8(tmp_path: Path) -> None:
    """A byte order mark first, every cell quoted."""
    write(tmp_path / "s.csv", HEADER, [("BCDFGH", "é", "")])
    assert (tmp_path / "s.csv").read_bytes() == b'\xef\xbb\xbf"code","answer","correct"\r\n"BCDFGH","\xc3\xa9",""\r\n'


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "utf-8"), ("\t", "utf-16"), (",", "utf-8-sig")])
def test_a_sheet_is_read_as_spreadsheets_save_it(tmp_path: Path, delimiter: str, encoding: str) -> None:
    """Semicolons where the comma is the decimal sign, tabs in UTF-16; an empty row is no row."""
    with (tmp_path / "s.csv").open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([HEADER, ("BCDFGH", "a, b; c", "1"), ("", "", "")])
    assert [(line.number, line.cells["answer"]) for line in read(tmp_path / "s.csv")] == [(2, "a, b; c")]


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("s.csv", b"a,b\r\n1,2\r\n", "no column 'code'; the first row has a, b"),
        ("s.csv", b"code,answer,answer\r\n", "two columns 'answer'"),
        ("s.csv", b"code,answer\r\nB,\xe9\r\n", "not utf-8"),
        ("s.csv", b"PK\x03\x04", "a spreadsheet file under a name that is not .xlsx"),
        ("s.xlsx", b"code,answer\r\n", "not an XLSX file"),
        ("t.csv", b"", "no column 'code'"),
    ],
)
def test_what_is_no_sheet_is_named(tmp_path: Path, name: str, data: bytes, problem: str) -> None:
    """With the file and what to do."""
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    assert caught.value.problem.startswith(problem)
    assert caught.value.path == tmp_path / name
