"""The automatic marks of an answer: the pre-check of its key, its opening claim, and superseded values.

    correct  = every entry of `must_contain` hits, and the opening does not contradict the reference's
    stale    = a superseded value stands in an answer that is not correct, or its opening contradicts the reference's
    invented = an entry of `must_not_contain` hits, or the answer opens with yes where the reference opens with no

A right answer may tell a superseded value as history, so such a value alone is no mark. None: the key has nothing to
check by. Cheap, the same for everyone, and not the grade; `RULE` is its version.
"""

from __future__ import annotations

from functools import lru_cache

from loadrig.analysis.selection import asked
from loadrig.graders.blind import with_answer
from loadrig.graders.opening import contradicts, opening
from loadrig.graders.precheck import hits, passes
from loadrig.graders.scores import Graded
from loadrig.log import RunFolder
from loadrig.words.clock import SystemClock
from loadrig.words.corpus import Question
from loadrig.words.record import Record
from loadrig.words.score import PRECHECK, Grader, Marks, Score

RULE = "2"  # 1 did not look at the opening


def marks_of(run: RunFolder, record: Record) -> Marks | None:
    """The automatic marks of a record's answer, made once a run; None when its question is not on file."""
    question = run.questions.get(record.question)
    if question is None:
        return None
    key = (record.trial, record.try_no)
    if key not in run.marks:
        run.marks[key] = _one(marks(question, record.answer))
    return run.marks[key]


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


def grade(run: RunFolder) -> Graded:
    """The automatic marks of every answered trial, warm-up left out."""
    scores = {}
    for record in with_answer(run, asked(run)):
        found = marks_of(run, record)
        assert found is not None, "its question is on file"
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


@lru_cache(maxsize=1024)
def _one(found: Marks) -> Marks:
    """The first of marks that are alike: a run has few."""
    return found
