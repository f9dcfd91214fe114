"""Accuracy by a grader's marks, who says so, what the judge costs, and faithfulness."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

from records import attempt, question, read_run, record, turn, write_run

from loadrig.analysis.accuracy import CategoryAccuracy, accuracy_by_arm, correct, dropped
from loadrig.analysis.bill import bill
from loadrig.analysis.days import nights
from loadrig.analysis.grading import grading_figures
from loadrig.analysis.summary import summarize
from loadrig.graders.scores import replace
from loadrig.graders.standing import graded
from loadrig.log import RunFolder
from loadrig.reports import grading as tables
from loadrig.reports import quality
from loadrig.words.record import Usage
from loadrig.words.score import Grader, Score


def sheet(run: RunFolder, *scores: Score, name: str = "anna") -> RunFolder:
    """The run as graded by these scores."""
    replace(run.path, Grader(name, "sheet", "", "sheet.csv"), scores)
    return graded(run)


def of(run: RunFolder, arm: str = "rag") -> CategoryAccuracy:
    return next(row for row in accuracy_by_arm(run) if row.arm == arm).categories[0]


def mark(trial: str, correct: bool | None, **more: bool | float) -> Score:
    return Score("anna", trial, 1, correct=correct, **more)


def test_a_sheet_beats_the_pre_check(tmp_path: Path) -> None:
    """Two answers that pass the pre-check, one of them called wrong by a person: 1 of 2."""
    run = read_run(tmp_path, [record("a"), record("b", question="q2")])
    whole = of(run).of_asked
    assert whole is not None
    assert whole.k == 2
    found = of(sheet(run, mark("a", correct=True), mark("b", correct=False))).of_asked
    assert found is not None
    assert (found.k, found.n) == (1, 2)


def test_what_was_not_graded_is_counted_and_never_wrong(tmp_path: Path) -> None:
    """M2: right, wrong and left blank: 1 of 2 graded, 1 not graded; not 1 of 3."""
    run = read_run(tmp_path, [record(f"t{i}", question=f"q{i}") for i in range(3)])
    found = of(sheet(run, mark("t0", correct=True), mark("t1", correct=False)))
    assert found.of_graded is not None
    assert (found.of_graded.k, found.of_graded.n, found.no_key) == (1, 2, 1)


def test_stale_invented_and_the_scale_are_counted_apart(tmp_path: Path) -> None:
    """A-50 to A-52: one stale of two marked so, none invented of one; the scale's mean is .75 over two."""
    run = read_run(tmp_path, [record(f"t{i}", question=f"q{i}") for i in range(2)])
    graded_run = sheet(run, mark("t0", correct=True, stale=False, score=1.0),
                       mark("t1", correct=False, stale=True, invented=False, score=0.5))  # fmt: skip
    found = of(graded_run)
    assert found.stale is not None
    assert found.invented is not None
    assert (found.stale.k, found.stale.n, found.invented.k, found.invented.n) == (1, 2, 0, 1)
    assert (found.score, found.scored) == (0.75, 2)


def test_a_control_that_nobody_graded_is_dropped_by_the_pre_check(tmp_path: Path) -> None:
    """The sheet has the control's first answer, wrong; its second, unseen by the grader, passes the pre-check."""
    records = [record("c1", arm="control", answer="no"), record("c2", arm="control", repetition=2), record("r1")]
    run = sheet(read_run(tmp_path, records), mark("c1", correct=False), mark("r1", correct=True))
    assert [drop.answer for drop in dropped(run)] == ["yes"]


def test_cost_per_right_answer_stays_with_the_pre_check(tmp_path: Path) -> None:
    """It alone knows every repetition: two pass, though the sheet has seen one."""
    run = read_run(tmp_path, [record("a"), record("b", repetition=2)])
    assert correct(sheet(run, mark("a", correct=False)), run.records) == 2


def test_the_report_says_whose_marks_they_are(tmp_path: Path) -> None:
    """The title of the table, the agreement of pre-check and sheet, and nothing of it when nobody graded."""
    run = read_run(tmp_path, [record("a"), record("b", question="q2")])
    assert quality.accuracy(summarize(run)).title == "Accuracy by pre-check"
    assert tables.tables(summarize(run)) == []
    summary = summarize(sheet(run, mark("a", correct=True), mark("b", correct=False)))
    assert quality.accuracy(summary).title == "Accuracy by the sheet of anna"
    agreement = tables.agreement(summary)
    assert agreement is not None
    assert agreement.rows[0][:3] == ("anna and pre-check", "correct", "1/2 [.09, .91]")


def test_faithfulness_is_by_arm_and_says_whether_it_keeps_the_floor(tmp_path: Path) -> None:
    """B-07: 9 of 10 is kept, 8 of 10 missed; the first answer to each question counts."""
    records = [record(f"{arm}{i}", arm=arm, question=f"q{i}", answer=f"{arm} {i}") for arm in "ab" for i in range(10)]
    run = read_run(tmp_path, records)
    bad = {"a0", "b0", "b1"}
    scores = [Score("sim", r.trial, 1, correct=True, supported=r.trial not in bad) for r in records]
    replace(run.path, Grader("sim", "judge", "", "m", floor=0.9, least=20), scores)
    found = grading_figures(graded(run))
    assert [(row.arm, row.supported.k, row.supported.n, row.kept) for row in found.faithfulness] == [
        ("a", 9, 10, True), ("b", 8, 10, False),
    ]  # fmt: skip
    assert (found.by, found.judges[0].why) == ("pre-check", "no sheet to hold it against")


def test_a_judges_calls_are_a_line_of_the_bill(tmp_path: Path) -> None:
    """0.03 for the run, 0.02 for a judge: 0.05 in all, and the lines sum to it. Cost per question does not change."""
    usage = Usage(input=1, output=1)
    asked = record("a", cost="0.03", turns=(turn("0.03", usage=usage, attempts=(attempt(cost="0.03", usage=usage),)),))
    verdict = record(
        "j", cost="0.02", turns=(turn("0.02", usage=usage, attempts=(attempt(cost="0.02", usage=usage),)),)
    )
    write_run(tmp_path / "judges" / "judge-1", [verdict], questions=[question()])
    found = bill(read_run(tmp_path, [asked]))
    assert {line.name: line.money.amount for line in found.lines if line.money.amount != "0"} == {
        "measured": "0.03", "judge": "0.02",
    }  # fmt: skip
    assert found.total.amount == "0.05"
    total = nights([read_run(tmp_path, [])], ZoneInfo("UTC")).total  # the records of both are on file by now
    assert total.amount == "0.05"
