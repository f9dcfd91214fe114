"""A small run to grade, its sheet, and a grader who fills it in; tests only."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from records import question, read_run, record

from loadrig.graders.blind import choose
from loadrig.graders.exporting import export, read_keys
from loadrig.graders.importing import Imported, take
from loadrig.log import RunFolder
from loadrig.words.corpus import Evidence

Cells = dict[str, str]


def small_run(folder: Path, answers: dict[str, str] | None = None) -> RunFolder:
    """Arms rag and agentic, of which rag answers q1 and q2 in two repetitions; `answers` by trial replace those."""
    said = {"r1": "It is eight.", "r2": "It is nine.", "r1b": "Eight.", "a1": "It is eight.", **(answers or {})}
    records = [
        record("r1", answer=said["r1"]),
        record("r2", question="q2", answer=said["r2"]),
        record("r1b", repetition=2, answer=said["r1b"]),
        record("a1", arm="agentic", answer=said["a1"]),
        record("a2", arm="agentic", question="q2", outcome="unanswered", reason="starved", answer=""),
    ]
    questions = [
        question("q1", reference="8.", stale=("7",), must_contain=("eight||8",), evidence=(Evidence("d", "it is 8"),)),
        question("q2", reference="No. It was 9 once.", must_contain=("no",)),
    ]
    return read_run(folder, records, questions=questions)


def exported(run: RunFolder, name: str = "sheet.csv", **more: bool) -> Path:
    """The run's sheet, in its folder."""
    path = run.path / name
    export(run.path, choose(run, seed=7, all_repetitions=more.get("all_repetitions", False)), path)
    return path


def rows(path: Path) -> list[Cells]:
    """The rows of a CSV sheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def filled(path: Path, grade: Callable[[Cells], Cells]) -> Path:
    """The CSV sheet with each row as `grade` makes it."""
    graded = [{**row, **grade(row)} for row in rows(path)]
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        sheet = csv.DictWriter(file, list(graded[0]))
        sheet.writeheader()
        sheet.writerows(graded)
    return path


def taken(run: RunFolder, path: Path, grader: str = "anna", *, changed_too: bool = False) -> Imported:
    """What import makes of the sheet."""
    return take(path, read_keys(run.path), grader, changed_too=changed_too)


def right(_: Cells) -> Cells:
    """A grader who finds everything right."""
    return {"correct": "1", "stale": "0", "invented": "0"}
