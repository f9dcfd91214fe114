"""The automatic marks of an answer: the pre-check of its key, its opening claim, and superseded values.

    correct  = every entry of `must_contain` hits, and the opening does not contradict the reference's
    stale    = a superseded value stands in an answer that is not correct, or its opening contradicts the reference's
    invented = an entry of `must_not_contain` hits, or the answer opens with yes where the reference opens with no

A right answer may tell a superseded value as history, so such a value alone is no mark. None: the key has nothing to
check by. Cheap, the same for everyone, and not the grade; `RULE` is its version.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.analysis.selection import asked
from loadrig.graders.blind import with_answer
from loadrig.graders.opening import contradicts, opening
from loadrig.graders.precheck import hits, passes
from loadrig.graders.scores import Graded
from loadrig.log import RunFolder
from loadrig.words.clock import SystemClock
from loadrig.words.corpus import Question
from loadrig.words.score import PRECHECK, Grader, Score

RULE = "2"  # 1 did not look at the opening


@dataclass(frozen=True, slots=True)
class Marks:
    """What the rules say of one answer: the three marks, of which `correct` is `complete` (all that the key demands is
    there; None when it demands nothing) and not `against` (it opens with the reference's opposite); `note` is the
    reason for each mark against it."""

    complete: bool | None
    against: bool
    correct: bool | None
    stale: bool | None
    invented: bool | None
    note: str


def marks(question: Question, answer: str) -> Marks:
    """The automatic marks of an answered trial's answer."""
    against = contradicts(answer, question.reference)
    complete = passes(answer, question.must_contain) if question.must_contain else None
    correct = None if complete is None else complete and not against
    old = [value for value in question.stale if hits(answer, value)]
    stale = (bool(old) and not correct) or against if question.stale else None
    bad = [value for value in question.must_not_contain if hits(answer, value)]
    denied = opening(question.reference) == "no"
    invented = bool(bad) or against if question.must_not_contain or denied else None
    reasons = [
        *([f"opens with {opening(answer)}, the reference with {opening(question.reference)}"] if against else []),
        *(["does not hold what the key demands"] if complete is False else []),
        *([f"superseded: {old[0]}"] if stale and old else []),
        *([f"must not be said: {bad[0]}"] if bad else []),
    ]
    return Marks(complete, against, correct, stale, invented, "; ".join(reasons))


def correct(question: Question | None, answer: str) -> bool | None:
    """The mark `correct` alone; None when the key demands nothing."""
    if question is None or not question.must_contain:
        return None
    return passes(answer, question.must_contain) and not contradicts(answer, question.reference)


def grade(run: RunFolder) -> Graded:
    """The automatic marks of every answered trial, warm-up left out."""
    scores = {}
    for record in with_answer(run, asked(run)):
        found = marks(run.questions[record.question], record.answer)
        scores[record.trial, record.try_no] = Score(
            grader=PRECHECK,
            trial=record.trial,
            try_no=record.try_no,
            correct=found.correct,
            stale=found.stale,
            invented=found.invented,
            note=found.note,
        )
    return Graded(Grader(PRECHECK, "precheck", SystemClock().label(), f"rule {RULE}"), scores)
