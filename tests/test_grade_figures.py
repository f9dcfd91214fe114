"""What `loadrig grade` says in numbers: every count on a run small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from graded_runs import exported, filled, right, rows, small_run
from records import record

from loadrig.commands import grade
from loadrig.log import RunLog

Printed = pytest.CaptureFixture[str]


def said(capsys: Printed) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_export_counts_rows_answers_and_trials_without_one(tmp_path: Path, capsys: Printed) -> None:
    """Of four trials first asked one was starved; of the three answers two are the same words to the same question."""
    run = small_run(tmp_path)
    grade.export(run.path, None, seed=7, all_repetitions=False)
    assert said(capsys)[:2] == [
        "2 rows for 3 answers: the same words to the same question are graded once",
        "not on it: 1 of 4 trials that ended without an answer",
    ]


def test_auto_counts_what_passes_and_what_does_not(tmp_path: Path, capsys: Printed) -> None:
    """Eight is eight in three answers; "It is nine." does not hold "no"."""
    grade.auto(small_run(tmp_path).path)
    assert said(capsys)[0].startswith("4 answers checked: 3 pass, 1 do not, 0 have no key to check by")


def test_import_counts_rows_trials_and_earlier_marks(tmp_path: Path, capsys: Printed) -> None:
    """A sheet with one row blank, then the whole: one row is two trials, two are three, which replace the two."""
    run = small_run(tmp_path)
    path = exported(run)
    blank = next(row["code"] for row in rows(path) if "nine" in row["answer"])
    for grading in (lambda row: {} if row["code"] == blank else right(row), right):
        grade.import_(run.path, filled(path, grading), grader="anna", changed_too=False)
    told = said(capsys)
    assert "anna: 1 rows graded, 2 trials; earlier marks replaced: 0" in told
    assert f"1 rows left blank, not graded: {blank}" in told
    assert "anna: 2 rows graded, 3 trials; earlier marks replaced: 2" in told


def test_marks_of_answers_that_were_asked_again_are_counted_and_left_out(tmp_path: Path, capsys: Printed) -> None:
    """The sheet is of three trials, one of which was asked again since: its first try is nobody's answer now."""
    run = small_run(tmp_path)
    path = filled(exported(run), right)
    with RunLog(run.path) as log:
        log.append([record("r2", question="q2", try_no=2)], {})
    grade.import_(run.path, path, grader="anna", changed_too=False)
    told = said(capsys)
    assert "anna: 2 rows graded, 2 trials; earlier marks replaced: 0" in told
    assert "1 marks are for answers that were asked again since, and are left out" in told
