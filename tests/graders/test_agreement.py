"""How far graders agree, counted over distinct answers that both have marked."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import read_run, record

from loadrig.graders.agreement import among, between
from loadrig.graders.scores import Graded
from loadrig.log import RunFolder
from loadrig.words.score import Grader, Score


def answers(folder: Path, n: int) -> RunFolder:
    """n answers, each to a question of its own."""
    return read_run(folder, [record(f"t{i}", question=f"q{i}", answer=f"a{i}") for i in range(n)])


def graded(name: str, marks: list[bool | None]) -> Graded:
    scores = {(f"t{i}", 1): Score(name, f"t{i}", 1, correct=mark) for i, mark in enumerate(marks)}
    return Graded(Grader(name, "sheet", "", ""), scores)


def test_raw_agreement_kappa_and_prevalence_stand_together(tmp_path: Path) -> None:
    """118 of 120 both right, one each way: raw .983, kappa -.008, each said right of .992: kappa alone misleads."""
    anna, bert = [True] * 119 + [False], [True] * 118 + [False, True]
    found = between(answers(tmp_path, 120), graded("anna", anna), graded("bert", bert), "correct")
    assert found is not None
    assert (found.agreed.k, found.agreed.n, round(found.agreed.share, 3)) == (118, 120, 0.983)
    assert (found.kappa.kappa, found.first_yes, found.second_yes) == (
        pytest.approx(-0.0084, abs=5e-5),
        119 / 120,
        119 / 120,
    )


def test_only_what_both_have_marked_is_counted(tmp_path: Path) -> None:
    """One answer was left blank by Anna, one by Bert: two of four remain, one alike."""
    anna, bert = graded("anna", [True, None, True, True]), graded("bert", [True, True, None, False])
    run = answers(tmp_path, 4)
    found = between(run, anna, bert, "correct")
    assert found is not None
    assert (found.agreed.k, found.agreed.n) == (1, 2)
    assert between(run, anna, bert, "stale") is None


def test_the_same_answer_of_ten_trials_is_one_judgement(tmp_path: Path) -> None:
    """A control refuses ten times in the same words, on one row of the sheet: that is no ten agreements."""
    run = read_run(tmp_path, [record(f"t{i}", repetition=i, answer="I cannot say.") for i in range(10)])
    found = between(run, graded("anna", [False] * 10), graded("bert", [False] * 10), "correct")
    assert found is not None
    assert (found.agreed.n, found.kappa.kappa) == (1, None)


def test_three_graders_have_an_alpha_and_two_have_none(tmp_path: Path) -> None:
    """Marks yes yes -, yes no yes, - no no of three answers: alpha .5 over the three that two have marked."""
    run = answers(tmp_path, 3)
    graders = [graded("a", [True, True, None]), graded("b", [True, False, False]), graded("c", [None, True, False])]
    found = among(run, graders, "correct")
    assert found is not None
    assert (found.n, found.alpha) == (3, pytest.approx(0.5))
    assert among(run, graders[:2], "correct") is None
