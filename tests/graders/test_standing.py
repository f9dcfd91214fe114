"""Whose marks count: a sheet before a calibrated judge, a judge before the pre-check."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import read_run, record

from loadrig.graders.scores import read, replace
from loadrig.graders.standing import calibration, graded, judges
from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.score import Grader, Kind, Score


def run_of(folder: Path, n: int = 20) -> RunFolder:
    return read_run(folder, [record(f"t{i}", question=f"q{i}", answer=f"a{i}") for i in range(n)])


def grade(run: RunFolder, name: str, kind: Kind, marks: list[bool | None], **more: bool) -> None:
    """The first answers marked so; a judge is to be held against 20 of them at .9."""
    who = Grader(name, kind, "", "", floor=0.9, least=20, **more)
    replace(run.path, who, [Score(name, f"t{i}", 1, correct=mark) for i, mark in enumerate(marks)])


def test_without_a_grader_the_pre_check_counts(tmp_path: Path) -> None:
    """And so it does when it was written down, or asked for."""
    run = run_of(tmp_path)
    assert graded(run).grading is None
    grade(run, "precheck", "precheck", [True])
    assert graded(run).grading is None
    grade(run, "anna", "sheet", [True])
    assert graded(run, "precheck").grading is None


def test_the_sheet_with_most_marks_counts_unless_one_is_named(tmp_path: Path) -> None:
    """Bert graded two answers, Anna one."""
    run = run_of(tmp_path)
    grade(run, "anna", "sheet", [False])
    grade(run, "bert", "sheet", [True, True])
    by_default, by_name = graded(run).grading, graded(run, "anna").grading
    assert by_default is not None
    assert by_name is not None
    assert (by_default.by, by_name.by) == ("the sheet of bert", "the sheet of anna")
    assert by_name.scores["t0", 1].correct is False


def test_a_judge_counts_from_nine_tenths_of_twenty(tmp_path: Path) -> None:
    """18 of 20 alike is .9: calibrated. 17 of 20 is not, and neither is 19 of 19."""
    run = run_of(tmp_path)
    grade(run, "anna", "sheet", [True] * 20)
    for marks, why in (
        ([True] * 18 + [False] * 2, ""),
        ([True] * 17 + [False] * 3, "agreement 0.850 is below 0.9"),
        ([True] * 19, "only 19 answers marked by both, 20 are needed"),
    ):
        grade(run, "sim", "judge", list(marks))
        known = read(run.path)
        assert calibration(run, judges(known)[0], known).why == why


def test_a_calibrated_judge_fills_in_what_the_sheet_has_not(tmp_path: Path) -> None:
    """Of 23 answers Anna marked 20 and left one blank: hers count, and the judge's for the other three."""
    run = run_of(tmp_path, 23)
    grade(run, "anna", "sheet", [True] * 20 + [None])
    grade(run, "sim", "judge", [True] * 19 + [False] * 4)
    found = graded(run).grading
    assert found is not None
    assert (found.by, found.kind) == ("the sheet of anna, else the judge sim", "sheet and judge")
    assert [found.scores[f"t{i}", 1].correct for i in (18, 19, 20, 22)] == [True, True, False, False]


def test_a_judge_that_prefers_one_arm_is_not_used(tmp_path: Path) -> None:
    """60 answers of three arms, 6 of 20 wrong in each. The judge calls all six of `c` right: agreement is 54 of 60, .9,
    yet kinder to one arm by 6 to 0: p .03125, and .094 over three arms. With eight it is .0078 and .023: refused."""
    for wrong, why in ((6, ""), (8, "kinder than the sheet to c (8 to 0, p 0.023)")):
        records = [
            record(f"{arm}{i}", arm=arm, question=f"q{i}", answer=f"{arm} {i}") for arm in "abc" for i in range(20)
        ]
        run = read_run(tmp_path / str(wrong), records)
        sheet = [Score("anna", r.trial, 1, correct=int(r.trial[1:]) >= wrong) for r in records]
        replace(run.path, Grader("anna", "sheet", "", ""), sheet)
        kind = [Score("sim", one.trial, 1, correct=bool(one.correct) or one.trial[0] == "c") for one in sheet]
        replace(run.path, Grader("sim", "judge", "", "", floor=0.8, least=20), kind)
        known = read(run.path)
        assert calibration(run, judges(known)[0], known).why == why


def test_a_judge_that_is_not_calibrated_is_not_used(tmp_path: Path) -> None:
    """Alone it leaves the pre-check in force; named, it is refused with the reason."""
    run = run_of(tmp_path)
    grade(run, "sim", "judge", [True] * 20)
    assert graded(run).grading is None
    with pytest.raises(InputError, match="not calibrated: no sheet to hold it against"):
        graded(run, "sim")
    with pytest.raises(InputError, match="no grader 'bert' in this run"):
        graded(run, "bert")


def test_a_simulated_judge_says_nothing_of_a_real_run(tmp_path: Path) -> None:
    """However well it agrees."""
    run = run_of(tmp_path)
    grade(run, "anna", "sheet", [True] * 20)
    grade(run, "sim", "judge", [True] * 20, simulated=True)
    known = read(run.path)
    assert calibration(run, judges(known)[0], known).why == "it was simulated, the run was not"


def test_marks_of_an_answer_that_was_asked_again_do_not_count(tmp_path: Path) -> None:
    """The sheet graded the first try; the second is the answer now, and nobody has seen it."""
    run = read_run(tmp_path, [record("t0", try_no=2), record("t1", question="q2")])
    grade(run, "anna", "sheet", [True, True])
    found = graded(run).grading
    assert found is not None
    assert list(found.scores) == [("t1", 1)]
