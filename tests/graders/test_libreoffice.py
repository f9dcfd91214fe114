"""A sheet opened and saved by LibreOffice, headless: grades survive, formulas stay text, answers stay as they were."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import openpyxl
import pytest
from graded_runs import Cells, exported, filled, small_run, taken

from loadrig.log import RunFolder
from loadrig.words.score import Score

OFFICE = shutil.which("soffice") or shutil.which("libreoffice")
pytestmark = [
    pytest.mark.realserver,
    pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed: apt install libreoffice-calc-nogui"),
]
AS_UTF_8 = "CSV:44,34,76,1"  # comma, double quote, UTF-8, from the first row: what its dialogue offers
TO_CSV = "csv:Text - txt - csv (StarCalc):44,34,76,1"
HARD = {
    "r1": "=HYPERLINK(\"http://127.0.0.1\")&cmd|' /C calc'!A0",
    "r2": "1-2",
    "a1": 'first line\n"second", with; marks\t🦉 12345678901234567890 5 % ' + "and so on " * 4_000,
    "r1b": "May 5, 2034",
}


def saved(sheet: Path, kind: str, *options: str) -> Path:
    """The sheet as LibreOffice saves it, as this kind of file, in a folder of its own."""
    out = sheet.parent / f"saved-{sheet.suffix[1:]}"
    profile = f"-env:UserInstallation={(sheet.parent / 'profile').as_uri()}"
    command = [str(OFFICE), "--headless", profile, *options, "--convert-to", kind, "--outdir", str(out), str(sheet)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return out / f"{sheet.stem}.{kind.partition(':')[0]}"


def grade(row: Cells) -> Cells:
    """Wrong where the answer is a formula, with a reason that looks like one; else right."""
    if "HYPERLINK" in row["answer"]:
        return {"correct": "0", "stale": "1", "invented": "0", "score": "0.5", "note": "- 7 is from before"}
    return {"correct": "yes", "stale": "0", "invented": "0"}


def run_with_hard_answers(folder: Path) -> tuple[RunFolder, Path]:
    """All repetitions, so that each of the hard answers is a row."""
    run = small_run(folder, HARD)
    return run, filled(exported(run, all_repetitions=True), grade)


def check(run: RunFolder, sheet: Path) -> None:
    """The four grades as given, no answer changed, none missing."""
    found = taken(run, sheet)
    assert (found.rows, found.blank, found.missing, found.changed) == (4, (), (), ())
    scores = {score.trial: score for score in found.scores}
    assert scores["r1"] == Score("anna", "r1", 1, False, True, False, 0.5, note="- 7 is from before")
    assert [scores[trial].correct for trial in ("r2", "a1", "r1b")] == [True] * 3


def test_csv_to_ods_to_csv(tmp_path: Path) -> None:
    """Nowhere in the document between is a formula, and the sheet that comes back is imported whole."""
    run, sheet = run_with_hard_answers(tmp_path)
    between = saved(sheet, "ods", f"--infilter={AS_UTF_8}")
    assert b"table:formula" not in zipfile.ZipFile(between).read("content.xml")
    check(run, saved(between, TO_CSV))


def test_csv_to_xlsx(tmp_path: Path) -> None:
    """As a workbook: every answer a string."""
    run, sheet = run_with_hard_answers(tmp_path)
    workbook = saved(sheet, "xlsx", f"--infilter={AS_UTF_8}")
    cells = [cell for row in openpyxl.load_workbook(workbook).worksheets[0].iter_rows(min_row=2) for cell in row]
    assert {cell.data_type for cell in cells} == {"s", "n"}  # n: grades, and empty cells
    check(run, workbook)


def test_xlsx_to_ods_to_csv(tmp_path: Path) -> None:
    """Our workbook, graded in LibreOffice's own format and saved as CSV: as safe as the CSV was."""
    run, sheet = run_with_hard_answers(tmp_path)
    book = openpyxl.load_workbook(exported(run, "sheet.xlsx", all_repetitions=True))
    header = [cell.value for cell in book.worksheets[0][1]]
    for cells in book.worksheets[0].iter_rows(min_row=2):
        row = {str(name): str(cell.value or "") for name, cell in zip(header, cells, strict=True)}
        for name, mark in grade(row).items():
            cells[header.index(name)].value = mark
    graded = sheet.with_name("graded.xlsx")
    book.save(graded)
    back = saved(saved(graded, "ods"), TO_CSV)
    assert "\"'=HYPERLINK" in back.read_text("utf-8") or ",'=HYPERLINK" in back.read_text("utf-8")
    check(run, back)
