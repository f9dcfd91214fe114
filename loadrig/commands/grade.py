"""`loadrig grade RUN auto|export|import`: marks by rules, and sheets for people. Records are never touched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from loadrig.analysis.summary import Summary
from loadrig.commands.firing import console_of
from loadrig.graders import automatic, exporting, importing, scores
from loadrig.graders.blind import choose
from loadrig.log import read_run
from loadrig.reports import write_all
from loadrig.reports.grading import tables
from loadrig.reports.terminal import draw
from loadrig.words.clock import SystemClock
from loadrig.words.errors import InputError
from loadrig.words.score import PRECHECK, Grader

NAME = re.compile(r"[\w.@-]{1,60}")
MOST_NAMED = 10


def auto(folder: Path) -> None:
    """Writes the automatic marks and says how many there are."""
    found = automatic.grade(read_run(folder))
    scores.replace(folder, found.grader, list(found.scores.values()))
    marks = [score.correct for score in found.scores.values()]
    right, unknown = marks.count(True), marks.count(None)
    say(
        f"{len(marks)} answers checked: {right} pass, {marks.count(False)} do not, {unknown} have no key to check by; "
        f"a pre-check, not a grade",
        f"Written: {folder / scores.SCORES}",
    )


def export(folder: Path, out: Path | None, *, seed: int, all_repetitions: bool) -> None:
    """Writes a sheet and says what is on it and what is not."""
    choice = choose(read_run(folder), seed=seed, all_repetitions=all_repetitions)
    if not choice.rows:
        raise InputError("no answer to grade in this run", path=folder, remedy="export a run that has answered trials")
    path = out or folder / "sheet.csv"
    exporting.export(folder, choice, path)
    graded = choice.trials - choice.unanswered
    say(
        f"{len(choice.rows)} rows for {graded} answers: the same words to the same question are graded once",
        f"not on it: {choice.unanswered} of {choice.trials} trials that ended without an answer",
        "correct, stale, invented: 1 or 0, empty is not graded; score, if wanted: 0 to 1; "
        "a mark against an answer needs its reason in note",
        f"Written: {path}",
        f"Then: loadrig grade {folder} import {path} --grader NAME",
    )


def import_(folder: Path, path: Path, *, grader: str, changed_too: bool) -> None:
    """Takes a sheet's marks, makes the reports again, and shows how graders agree."""
    check_name(grader)
    run = read_run(folder)
    found = importing.take(path, exporting.read_keys(folder), grader, changed_too=changed_too)
    known = {(record.trial, record.try_no) for record in run.records}
    left = [score for score in found.scores if (score.trial, score.try_no) in known]
    who = Grader(grader, "sheet", SystemClock().label(), path.name)
    before = scores.replace(folder, who, left)
    gone = len(found.scores) - len(left)
    say(
        f"{grader}: {found.rows} rows graded, {len(left)} trials; earlier marks replaced: {before}",
        *_named("rows left blank, not graded", found.blank),
        *_named("rows missing from the sheet, not graded", found.missing),
        *_named("rows whose answer is not the one exported, taken as told", found.changed),
        *([f"{gone} marks are for answers that were asked again since, and are left out"] if gone else []),
        f"Written: {folder / scores.SCORES}",
    )
    show_agreement(folder)


def show_agreement(folder: Path) -> Summary:
    """Makes the reports of a run again and draws who graded it and how they agree; the summary."""
    summary, console = write_all(folder), console_of()
    for table in tables(summary):
        draw(table, console)
    console.print(Text(f"Accuracy is by {summary.grading.by}: {folder / 'report.md'}"), soft_wrap=True)
    return summary


def check_name(name: str) -> None:
    """Raises `InputError` for what is no name of a grader."""
    if not NAME.fullmatch(name) or name == PRECHECK:
        remedy = f"letters, digits, dot, dash, @; not {PRECHECK!r}"
        raise InputError(f"{name!r} is no name for a grader", remedy=remedy)


def _named(what: str, codes: Sequence[str]) -> list[str]:
    more = f" and {len(codes) - MOST_NAMED} more" if len(codes) > MOST_NAMED else ""
    return [f"{len(codes)} {what}: {', '.join(codes[:MOST_NAMED])}{more}"] if codes else []


def say(*lines: str) -> None:
    """Prints lines, none of them wrapped: paths and commands can be copied."""
    console = console_of()
    for line in lines:
        console.print(Text(line), soft_wrap=True)
