"""Who graded a run, how far graders agree, whose marks count, and faithfulness by arm.

The pre-check is held against every other grader, computed afresh. A judge that is not calibrated is shown, and not
used. Faithfulness is a judge's word for whether answers are supported by what was put before the model, of each
question by its first asked trial; `FAITHFULNESS_FLOOR` is the share a domain set should keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from loadrig.analysis.selection import CONTROL, arm_names, asked, grouped, in_order
from loadrig.context import FAITHFULNESS_FLOOR
from loadrig.graders import automatic
from loadrig.graders.agreement import Agreement, Alpha, among, between, distinct
from loadrig.graders.blind import first_asked
from loadrig.graders.scores import Graded, read
from loadrig.graders.standing import Calibration, calibration, judges, sheets
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson
from loadrig.words.score import Kind, Mark

MARKS: tuple[Mark, ...] = ("correct", "stale", "invented")
PRECHECK = "pre-check"


@dataclass(frozen=True, slots=True)
class GraderFigures:
    """One grader: `answers` distinct ones graded, in `trials`. Shares are of the distinct answers with that mark."""

    grader: str
    kind: Kind
    source: str
    graded_at: str
    answers: int
    trials: int
    correct: Share | None
    stale: Share | None
    invented: Share | None


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """Questions whose answer a judge found supported, of those judged so. `kept`: the share is at least the floor."""

    arm: str
    model: str
    judge: str
    supported: Share
    floor: float
    kept: bool


@dataclass(frozen=True, slots=True)
class GradingFigures:
    """`by`: whose marks accuracy is by."""

    by: str
    graders: tuple[GraderFigures, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    alphas: tuple[Alpha, ...] = ()
    judges: tuple[Calibration, ...] = ()
    faithfulness: tuple[Faithfulness, ...] = ()


def grading_figures(run: RunFolder) -> GradingFigures:
    """The figures of a run; of one that nobody graded, only that the pre-check counts."""
    by = PRECHECK if run.grading is None else run.grading.by
    known = [one for one in read(run.path) if one.grader.kind != "precheck"]
    if not known:
        return GradingFigures(by)
    everybody = [*sheets(known), *judges(known), automatic.grade(run)]
    pairs = [(one, other, mark) for one, other in combinations(everybody, 2) for mark in MARKS]
    people = sheets(known)
    return GradingFigures(
        by=by,
        graders=tuple(_figures(run, one) for one in everybody),
        agreements=tuple(found for one, other, mark in pairs if (found := between(run, one, other, mark))),
        alphas=tuple(alpha for mark in MARKS if (alpha := among(run, people, mark))),
        judges=tuple(calibration(run, one, known) for one in judges(known)),
        faithfulness=tuple(_faithfulness(run, judges(known))),
    )


def _figures(run: RunFolder, graded: Graded) -> GraderFigures:
    answers = distinct(run, graded)

    def yes(mark: Mark) -> Share | None:
        marks = [value for score in answers.values() if (value := getattr(score, mark)) is not None]
        return wilson(sum(marks), len(marks))

    of, shares = graded.grader, [yes(mark) for mark in MARKS]
    return GraderFigures(of.name, of.kind, of.source, of.graded_at, len(answers), len(graded.scores), *shares)


def supported_by(judge: Graded) -> dict[tuple[str, int], bool]:
    """Whether an answer is supported, of those of which the judge has said it, by trial and try."""
    return {key: score.supported for key, score in judge.scores.items() if score.supported is not None}


def _faithfulness(run: RunFolder, known: Sequence[Graded]) -> Iterator[Faithfulness]:
    order, floor = {arm: place for place, arm in enumerate(arm_names(run))}, FAITHFULNESS_FLOOR
    first = [record for record in first_asked(in_order(run, asked(run))) if record.arm != CONTROL]
    for judge in known:
        marks = supported_by(judge)
        said = [(record, marks[key]) for record in first if (key := (record.trial, record.try_no)) in marks]
        groups = grouped(((record.arm, record.model), mark) for record, mark in said)
        for (arm, model), found in sorted(groups.items(), key=lambda group: order[group[0][0]]):
            share = wilson(sum(found), len(found))
            assert share is not None
            yield Faithfulness(arm, model, judge.grader.name, share, floor, share.share >= floor)
