"""Accuracy by the pre-check: which answers hold what they must contain. A cheap check, not a grade.

Checked are answered trials of questions that say what an answer must contain; what was not answered is "not graded",
counted and never taken for wrong in silence. So accuracy is given twice: right of the questions asked, the unanswered
and failed named beside it (an arm that answers only what is easy gains nothing), and right of the graded. Intervals
are over questions, each by its first asked trial, because repetitions of one question are not independent; the tally
over all trials stands beside them without an interval.

A question that the control (no documents) answered rightly in any repetition measures the model's memory: it is
listed and leaves that model's accuracy; latency, tokens and money keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import CONTROL, arm_names, asked, grouped, stage_names
from loadrig.graders.precheck import passes
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson
from loadrig.words.record import Record

ALL = "all"


@dataclass(frozen=True, slots=True)
class CategoryAccuracy:
    """Of one category (`all`: every one); the dropped are only in `with_dropped`. Shares have Wilson's interval.

    `of_asked`: questions right / asked that have a key; asked = graded + `unanswered` + `failed`, by the first trial.
    `of_graded`: right / graded; `with_dropped`: the same with the dropped. `no_key`: questions whose key demands
    nothing. `right` of `checked`: trials over all repetitions.
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
    """Whether the answer passes the pre-check; None when it cannot be checked."""
    if record.outcome != "answered" or not _has_key(run, record):
        return None
    return passes(record.answer, run.questions[record.question].must_contain)


def correct(run: RunFolder, records: Iterable[Record]) -> int | None:
    """Trials that pass; None when none could be checked."""
    verdicts = [found for record in records if (found := verdict(run, record)) is not None]
    return sum(verdicts) if verdicts else None


def dropped(run: RunFolder) -> tuple[Dropped, ...]:
    """Questions that the control answered rightly, each once a model."""
    known = {
        (record.question, record.model): Dropped(record.question, record.category, record.model, record.answer)
        for record in asked(run)
        if record.arm == CONTROL and verdict(run, record)
    }
    return tuple(sorted(known.values(), key=lambda drop: (drop.model, drop.question)))


def accuracy_by_arm(run: RunFolder) -> tuple[ArmAccuracy, ...]:
    """Accuracy of every arm and model."""
    leaked = {(drop.question, drop.model) for drop in dropped(run)}
    place = {name: number for number, name in enumerate(stage_names(run))}
    records = sorted(asked(run), key=lambda record: (place[record.stage], record.repetition, record.trial))
    order = {arm: number for number, arm in enumerate(arm_names(run))}
    groups = grouped(((record.arm, record.model), record) for record in records)
    return tuple(
        ArmAccuracy(arm, model, _categories(run, found, {q for q, of in leaked if of == model}))
        for (arm, model), found in sorted(groups.items(), key=lambda group: order[group[0][0]])
    )


def _categories(run: RunFolder, records: Sequence[Record], leaked: set[str]) -> tuple[CategoryAccuracy, ...]:
    named = sorted(grouped((record.category, record) for record in records).items())
    return tuple(_category(run, name, found, leaked) for name, found in [(ALL, records), *named])


def _category(run: RunFolder, name: str, records: Sequence[Record], leaked: set[str]) -> CategoryAccuracy:
    trials = grouped((record.question, record) for record in records)
    known = [verdict(run, found[0]) for found in trials.values()]
    everything = [passed for passed in known if passed is not None]
    first = [found[0] for question, found in trials.items() if question not in leaked]
    keyed = [record for record in first if _has_key(run, record)]
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
    )


def _has_key(run: RunFolder, record: Record) -> bool:
    question = run.questions.get(record.question)
    return question is not None and bool(question.must_contain)
