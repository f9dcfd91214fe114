"""Whose marks count: a person's sheet before a judge, a judge before the pre-check.

Of several sheets the one with most marks counts (the first by name among equals), unless one is chosen. A judge counts
only when it is calibrated: on enough distinct answers that the sheet marks too, it agrees with the sheet often enough,
and it is neither kinder nor harsher than the sheet to any one arm. How many and how often was said when it judged. It
then fills in where the sheet has no mark. With neither, the pre-check counts; beside a sheet or a judge it never fills
in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loadrig.graders.agreement import Agreement, between
from loadrig.graders.leaning import Leaning, leanings
from loadrig.graders.scores import Graded, read
from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.score import PRECHECK, Grading, Key, Score


@dataclass(frozen=True, slots=True)
class Calibration:
    """A judge held against a sheet on the mark `correct`. `calibrated`: it may be used; `why` says why not."""

    judge: str
    sheet: str | None
    agreement: Agreement | None
    floor: float
    least: int
    calibrated: bool
    why: str
    by_arm: tuple[Leaning, ...] = ()


def graded(run: RunFolder, grader: str | None = None) -> RunFolder:
    """The run with the grading that counts, or that of the grader named. Raises `InputError` for one who has not
    graded, and for a judge that is not calibrated."""
    known = read(run.path)
    if grader == PRECHECK or (grader is None and not known):
        return replace(run, grading=None)
    return replace(run, grading=_standing(run, known) if grader is None else _chosen(run, known, grader))


def sheets(known: Sequence[Graded]) -> list[Graded]:
    """The graders of sheets, the one that counts first."""
    found = [one for one in known if one.grader.kind == "sheet"]
    return sorted(found, key=lambda one: (-len(one.scores), one.grader.name))


def judges(known: Sequence[Graded]) -> list[Graded]:
    """The judges, in the order they first judged."""
    return [one for one in known if one.grader.kind == "judge"]


def calibration(run: RunFolder, judge: Graded, known: Sequence[Graded]) -> Calibration:
    """Whether a judge may be used, held against the sheet that counts."""
    floor, least = judge.grader.floor or 0.0, judge.grader.least or 0
    sheet = next(iter(sheets(known)), None)
    found = None if sheet is None else between(run, judge, sheet, "correct")
    n = 0 if found is None else found.agreed.n
    by_arm = () if sheet is None else leanings(run, judge, sheet)
    leaning = next((one for one in by_arm if one.leans), None)
    why = ""
    if judge.grader.simulated and not run.manifest.get("simulated"):
        why = "it was simulated, the run was not"
    elif sheet is None:
        why = "no sheet to hold it against"
    elif n < least:
        why = f"only {n} answers marked by both, {least} are needed"
    elif found is not None and found.agreed.share < floor:
        why = f"agreement {found.agreed.share:.3f} is below {floor:g}"
    elif leaning is not None:
        way = "kinder" if leaning.kinder > leaning.harsher else "harsher"
        why = f"{way} than the sheet to {leaning.arm} ({leaning.kinder} to {leaning.harsher}, p {leaning.p:.3f})"
    name = None if sheet is None else sheet.grader.name
    return Calibration(judge.grader.name, name, found, floor, least, not why, why, by_arm)


def _standing(run: RunFolder, known: Sequence[Graded]) -> Grading | None:
    usable = [judge for judge in judges(known) if calibration(run, judge, known).calibrated]
    return _of(run, [*sheets(known)[:1], *usable[:1]])


def _chosen(run: RunFolder, known: Sequence[Graded], name: str) -> Grading | None:
    one = next((one for one in known if one.grader.name == name), None)
    if one is None:
        have = ", ".join(sorted({PRECHECK, *(one.grader.name for one in known)}))
        raise InputError(f"no grader {name!r} in this run", path=run.path, remedy=f"one of: {have}")
    if one.grader.kind == "judge" and (held := calibration(run, one, known)).why:
        remedy = "grade a sheet that it can be held against, or judge again with another --floor or --least"
        raise InputError(f"judge {name!r} is not calibrated: {held.why}", path=run.path, remedy=remedy)
    return _of(run, [one])


def _of(run: RunFolder, graders: Sequence[Graded]) -> Grading | None:
    """One mark for each answer of the run: the first grader's who has said whether it is correct."""
    counting = {(record.trial, record.try_no) for record in run.records}
    scores: dict[Key, Score] = {}
    used = []
    for one in graders:
        before = sum(score.correct is not None for score in scores.values())
        for key, score in one.scores.items():
            if key in counting and (key not in scores or scores[key].correct is None):
                scores[key] = score
        if sum(score.correct is not None for score in scores.values()) > before:
            used.append(one.grader)
    if not used:
        return None
    named = [f"the sheet of {one.name}" if one.kind == "sheet" else f"the judge {one.name}" for one in used]
    kinds = " and ".join(one.kind for one in used)
    return Grading(", else ".join(named), kinds, tuple(one.name for one in used), scores)
