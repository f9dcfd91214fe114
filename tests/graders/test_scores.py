"""scores.jsonl: what is written is read, graders do not touch one another's marks, nobody touches a record."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from loadrig.graders.scores import read, replace
from loadrig.words.errors import InputError
from loadrig.words.score import Grader, Kind, Score

DAY = "2026-11-30T10:00:00.000000Z"


def grader(name: str, kind: Kind = "sheet") -> Grader:
    return Grader(name, kind, DAY, "sheet.csv")


def test_the_first_line_has_the_schema_and_a_score_is_a_line(tmp_path: Path) -> None:
    """Whoever reads the file finds trial and try as in the records."""
    replace(tmp_path, grader("anna"), [Score("anna", "t1", 2, correct=False, note="eight, not nine")])
    lines = [msgspec.json.decode(line) for line in (tmp_path / "scores.jsonl").read_bytes().splitlines()]
    assert lines[0] == {"schema": 1, "kind": "loadrig scores"}
    assert [line["row"] for line in lines[1:]] == ["grader", "score"]
    assert (lines[2]["trial"], lines[2]["try"], lines[2]["correct"], lines[2]["stale"]) == ("t1", 2, False, None)


def test_grading_again_replaces_a_graders_own_marks_alone(tmp_path: Path) -> None:
    """Anna's second sheet takes the place of her first; Bert's marks stay."""
    replace(tmp_path, grader("anna"), [Score("anna", "t1", 1, correct=True), Score("anna", "t2", 1, correct=True)])
    replace(tmp_path, grader("bert"), [Score("bert", "t1", 1, correct=True)])
    assert replace(tmp_path, grader("anna"), [Score("anna", "t1", 1, correct=False, note="no")]) == 2
    found = {one.grader.name: [(key, score.correct) for key, score in one.scores.items()] for one in read(tmp_path)}
    assert found == {"anna": [(("t1", 1), False)], "bert": [(("t1", 1), True)]}


def test_a_name_means_one_kind_of_grader(tmp_path: Path) -> None:
    """A judge does not take the place of a person of that name."""
    replace(tmp_path, grader("anna"), [])
    with pytest.raises(InputError, match="'anna' is already a sheet"):
        replace(tmp_path, grader("anna", "judge"), [])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"schema":9}\n', "scores of schema 9"),
        ("x\n", "scores of schema None"),
        ('{"schema":1}\n{"row":"x"}\n', "not a score"),
    ],
)
def test_a_file_that_is_not_ours_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """With line and remedy."""
    (tmp_path / "scores.jsonl").write_text(text)
    with pytest.raises(InputError) as caught:
        read(tmp_path)
    assert caught.value.problem.startswith(problem)
