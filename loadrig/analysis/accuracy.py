"""Accuracy: which answers are right by the grading that counts; without one, by the pre-check, which is not a grade.

The pre-check takes answered trials of questions that say what an answer must contain; a sheet or a judge those it has
marked. What was not answered or not marked is "not graded", counted and never taken for wrong in silence. So accuracy
is given twice: right of the questions asked, the unanswered and failed named beside it (an arm that answers only what
is easy gains nothing), and right of the graded. Intervals are over questions, each by its first asked trial, because
repetitions of one question are not independent; the tally over all trials stands beside them without an interval.

A question that the control (no documents) answered rightly in any repetition measures the model's memory: it is
listed and leaves that model's accuracy; latency, tokens and money keep it. A repetition of the control that nobody has
marked is taken by the pre-check. Cost per right answer is by the pre-check always, which knows every repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import CONTROL, arm_names, asked, by_category, grouped, in_order
from loadrig.graders import automatic
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson
from loadrig.words.record import Record
from loadrig.words.score import PRECHECK, Score


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """Of one category (`all`: every one); the dropped are only in `with_dropped`. Shares have Wilson's interval.

    `of_asked`: questions right / asked that can be graded; asked = graded + `unanswered` + `failed`, by the first
    trial. `of_graded`: right / graded; `with_dropped`: the same with the dropped. `no_key`: questions that nobody
    graded: their key demands nothing or, with a sheet or a judge, it has no mark. `right` of `checked`: trials over all
    repetitions. `stale` and `invented`: questions whose answer is marked so / that have such a mark. `score`: mean of
    the graded scale over `scored` questions.
    """

    category: str
    of_asked: Share | None
    of_graded: Share | None
    with_dropped: Share | None
    unanswered: int
    failed: int
    no_key: int
    right: int
    checked: int
    stale: Share | None = None
    invented: Share | None = None
    score: float | None = None
    scored: int = 0


@dataclass(frozen=True, slots=True)
class ArmAccuracy:
    """How often an arm's answers pass, by category."""

    arm: str
    model: str
    categories: tuple[CategoryAccuracy, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A question that the control answered rightly, and the answer."""

    question: str
    category: str
    model: str
    answer: str


def verdict(run: RunFolder, record: Record) -> bool | None:
    """Whether the answer is right by the grading that counts; None when that does not say."""
    if run.grading is None:
        return prechecked(run, record)
    score = score_of(run, record)
    return None if score is None else score.correct


def prechecked(run: RunFolder, record: Record) -> bool | None:
    """Whether the answer passes the pre-check; None when it cannot be checked."""
    found = automatic.marks_of(run, record) if record.outcome == "answered" else None
    return None if found is None else found.correct


def correct(run: RunFolder, records: Iterable[Record]) -> int | None:
    """Trials that pass the pre-check; None when none could be checked."""
    verdicts = [found for record in records if (found := prechecked(run, record)) is not None]
    return sum(verdicts) if verdicts else None


def dropped(run: RunFolder) -> tuple[Dropped, ...]:
    """Questions that the control answered rightly, each once a model."""
    known = {
        (record.question, record.model): Dropped(record.question, record.category, record.model, record.answer)
        for record in asked(run)
        if record.arm == CONTROL and _is_known(run, record)
    }
    return tuple(sorted(known.values(), key=lambda drop: (drop.model, drop.question)))


def _is_known(run: RunFolder, record: Record) -> bool:
    found = verdict(run, record)
    return bool(prechecked(run, record) if found is None else found)


def accuracy_by_arm(run: RunFolder) -> tuple[ArmAccuracy, ...]:
    """Accuracy of every arm and model."""
    leaked = {(drop.question, drop.model) for drop in dropped(run)}
    records = in_order(run, asked(run))
    order = {arm: number for number, arm in enumerate(arm_names(run))}
    groups = grouped(((record.arm, record.model), record) for record in records)
    return tuple(
        ArmAccuracy(arm, model, _categories(run, found, {q for q, of in leaked if of == model}))
        for (arm, model), found in sorted(groups.items(), key=lambda group: order[group[0][0]])
    )


def _categories(run: RunFolder, records: Sequence[Record], leaked: set[str]) -> tuple[CategoryAccuracy, ...]:
    named = by_category((record.category, record) for record in records)
    return tuple(_category(run, name, found, leaked) for name, found in named)


def _category(run: RunFolder, name: str, records: Sequence[Record], leaked: set[str]) -> CategoryAccuracy:
    trials = grouped((record.question, record) for record in records)
    known = [verdict(run, found[0]) for found in trials.values()]
    everything = [passed for passed in known if passed is not None]
    first = [found[0] for question, found in trials.items() if question not in leaked]
    keyed = [record for record in first if can_be_graded(run, record)]
    marked = [score for record in first if (score := score_of(run, record)) is not None]
    scales = [score.score for score in marked if score.score is not None]
    kept = [passed for record in keyed if (passed := verdict(run, record)) is not None]
    repeated = [
        passed
        for question, found in trials.items() if question not in leaked
        for record in found if (passed := verdict(run, record)) is not None
    ]  # fmt: skip
    return CategoryAccuracy(
        name,
        of_asked=wilson(sum(kept), len(keyed)),
        of_graded=wilson(sum(kept), len(kept)),
        with_dropped=wilson(sum(everything), len(everything)),
        unanswered=sum(record.outcome == "unanswered" for record in keyed),
        failed=sum(record.outcome == "failed" for record in keyed),
        no_key=len(first) - len(keyed),
        right=sum(repeated),
        checked=len(repeated),
        stale=_share(score.stale for score in marked),
        invented=_share(score.invented for score in marked),
        score=sum(scales) / len(scales) if scales else None,
        scored=len(scales),
    )


def _share(marks: Iterable[bool | None]) -> Share | None:
    known = [mark for mark in marks if mark is not None]
    return wilson(sum(known), len(known))


def score_of(run: RunFolder, record: Record) -> Score | None:
    """The marks that count; of a run that nobody graded, the automatic ones."""
    if run.grading is not None:
        return run.grading.scores.get((record.trial, record.try_no))
    found = automatic.marks_of(run, record) if record.outcome == "answered" else None
    if found is None:
        return None
    return Score(PRECHECK, record.trial, record.try_no, found.correct, found.stale, found.invented)


def can_be_graded(run: RunFolder, record: Record) -> bool:
    """By the pre-check a question with a key; by a grader what he has marked, and what has no answer to mark."""
    if run.grading is not None:
        return record.outcome != "answered" or verdict(run, record) is not None
    question = run.questions.get(record.question)
    return question is not None and bool(question.must_contain)
