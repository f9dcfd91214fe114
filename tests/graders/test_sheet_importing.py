"""Sheets taken back: every mark, every error by row and code, nothing in silence."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from graded_runs import Cells, exported, filled, right, rows, small_run, taken
from hypothesis import given, settings
from hypothesis import strategies as st
from records import read_run, record
from test_cells import TEXTS

from loadrig.graders.cells import joined, shown
from loadrig.words.errors import InputError
from loadrig.words.score import Score


def error(run_folder: Path, grade: Cells) -> str:
    """What is said of a sheet of which every row was filled in so."""
    run = small_run(run_folder)
    with pytest.raises(InputError) as caught:
        taken(run, filled(exported(run), lambda _: grade))
    assert caught.value.path == run.path / "sheet.csv"
    return str(caught.value)


def test_a_row_grades_every_trial_that_gave_its_answer(tmp_path: Path) -> None:
    """Two rows, three trials; stale and invented are marks of their own (A-51, A-52), and so is the scale (A-50)."""
    run = small_run(tmp_path)

    def grade(row: Cells) -> Cells:
        if "nine" in row["answer"]:
            return {"correct": "no", "stale": "YES", "invented": "0.0", "score": "0,5", "note": "that was before"}
        return {"correct": "True", "stale": "0", "invented": ""}

    found = taken(run, filled(exported(run), grade))
    assert {score.trial: score for score in found.scores} == {
        "r1": Score("anna", "r1", 1, correct=True, stale=False),
        "a1": Score("anna", "a1", 1, correct=True, stale=False),
        "r2": Score("anna", "r2", 1, correct=False, stale=True, invented=False, score=0.5, note="that was before"),
    }


@pytest.mark.parametrize(
    ("marks", "what"),
    [
        ({"correct": "0"}, "correct 0"), ({"correct": "1", "stale": "1"}, "stale 1"), ({"invented": "1"}, "invented 1"),
        ({"score": "0"}, "score 0"), ({"correct": "0", "note": "#NAME?"}, "correct 0"),
        ({"correct": "0", "invented": "yes"}, "correct 0 and invented 1"),
    ],
)  # fmt: skip
def test_a_mark_against_an_answer_needs_its_reason(tmp_path: Path, marks: Cells, what: str) -> None:
    """A-53: without a note nothing is imported, and row and code are named."""
    said = error(tmp_path, marks)
    code = rows(tmp_path / "sheet.csv")[0]["code"]
    assert f"row 2: {code}: {what} needs the reason in note" in said
    assert "2 errors, nothing imported" in said


@pytest.mark.parametrize(
    ("marks", "problem"),
    [
        ({"correct": "2"}, "correct '2' is neither 1 nor 0"),
        ({"stale": "x"}, "stale 'x' is neither 1 nor 0"),
        ({"score": "1.5"}, "score '1.5' is not from 0 to 1"),
        ({"score": "nan"}, "score 'nan' is not from 0 to 1"),
        ({"code": "BBBBBB"}, "code 2 times in the sheet"),
        ({"code": "ZZZZZZZ"}, "unknown code 'ZZZZZZZ'"),
        ({"code": ""}, "a row without a code"),
    ],
)
def test_what_cannot_be_read_is_named_by_row(tmp_path: Path, marks: Cells, problem: str) -> None:
    """A wrong value, an unknown code, one code twice: named, with the remedy, and nothing imported."""
    if marks.get("code") == "BBBBBB":
        run = small_run(tmp_path / "twice")
        marks = {"code": rows(exported(run))[0]["code"]}
    said = error(tmp_path / "run", {**right({}), **marks})
    assert problem in said
    assert "remedy: correct these rows and import the sheet again" in said


def test_blank_and_missing_rows_are_said_and_never_taken_for_wrong(tmp_path: Path) -> None:
    """One row left blank, then one taken out: neither has a score, both are named by code."""
    run = small_run(tmp_path)
    path = exported(run)
    blank, gone = (row["code"] for row in rows(path))
    found = taken(run, filled(path, lambda row: {} if row["code"] == blank else right(row)))
    assert (found.blank, found.missing, found.rows) == ((blank,), (), 1)
    kept = [line for line in path.read_text("utf-8-sig").splitlines() if gone not in line]
    path.write_text("\n".join(kept))
    found = taken(run, path)
    assert (found.blank, found.missing, found.rows) == ((blank,), (gone,), 0)


def test_an_answer_that_a_spreadsheet_changed_is_named(tmp_path: Path) -> None:
    """A date where a range was: what the grader read is not known. Taken only when told so, and named then too."""
    run = small_run(tmp_path, {"r2": "1-2"})
    path = filled(exported(run), lambda row: right(row) | ({"answer": "02/01/34"} if "1-2" in row["answer"] else {}))
    with pytest.raises(InputError, match="the answer is not the one exported") as caught:
        taken(run, path)
    assert "--changed" in caught.value.remedy
    assert len(taken(run, path, changed_too=True).changed) == 1


def test_a_spreadsheet_may_take_the_apostrophe_off(tmp_path: Path) -> None:
    """Some hide it and save without: the answer is the same."""
    run = small_run(tmp_path, {"r2": "=1+1"})
    path = filled(exported(run), lambda row: right(row) | {"answer": row["answer"].removeprefix("'")})
    assert taken(run, path).changed == ()


def test_a_missing_row_is_one_of_the_sheet_that_was_graded(tmp_path: Path) -> None:
    """Both sheets of a run were exported; the one of first repetitions is whole, though the other has a row more."""
    run = small_run(tmp_path)
    exported(run, "all.csv", all_repetitions=True)
    found = taken(run, filled(exported(run), right))
    assert (found.missing, len(found.scores)) == ((), 3)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
@settings(max_examples=20, deadline=None)
@given(answers=st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_any_answer_survives_export_and_import(suffix: str, answers: list[str]) -> None:
    """Export then import is identity, for either file: every answer on the sheet is the one on record, none is called
    changed, and with nothing filled in every row is blank."""
    with tempfile.TemporaryDirectory() as folder:
        records = [record(f"t{i}", question=f"q{i}", answer=text) for i, text in enumerate(answers)]
        run = read_run(Path(folder) / "run", records)
        found = taken(run, exported(run, f"s{suffix}"))
        if suffix == ".csv":
            shown_answers = [joined([row["answer"]]) for row in rows(run.path / "s.csv")]
            assert sorted(shown_answers) == sorted(map(shown, answers))
    assert (len(found.blank), found.changed, found.missing) == (len(answers), (), ())


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_an_answer_of_a_hundred_thousand_characters_survives(tmp_path: Path, suffix: str) -> None:
    """Seven cells of it; a letter changed in the last is found."""
    run = small_run(tmp_path, {"r2": "=" + "word " * 20_000 + "end"})
    path = exported(run, f"s{suffix}")
    assert taken(run, path).changed == ()
    if suffix == ".csv":
        assert list(rows(path)[0])[5:12] == ["answer", *(f"answer {n}" for n in range(2, 8))]
        filled(path, lambda row: {"answer 7": row["answer 7"].replace("end", "and")})
        assert len(taken(run, path, changed_too=True).changed) == 1
