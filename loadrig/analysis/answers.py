"""Measures of answers by arm and category, the cross of provenance and correctness, and what a grader should read.

    n, total  = trials that have the measure's value, and the sum of their values
    questions = questions with such a trial; mean = mean over them of a question's own mean, so that repetitions, which
                are not independent, weigh no more

No interval is given: counts of dates and claims cluster by answer. They are rules, not grades; see each measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from loadrig.analysis.contexts import Looked
from loadrig.analysis.selection import by_arm_and_model, by_category, grouped
from loadrig.log import RunFolder
from loadrig.measures import OF_ANSWER, answer_measure
from loadrig.measures.citing import fabricated_dates, misplaced_dates, named_documents
from loadrig.measures.recency import recency_claims

FOUND, TOLD = 40, 300  # findings listed of each kind, characters of each; the figures count every one
_BY_OPENING = ("opening", "stale", "invented", "trap_taken")
_BY_WORDS = ("dates_fabricated", "dates_misplaced", "ids_fabricated", "recency_wrong")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure over the trials of an arm, a model and a category."""

    measure: str
    unit: str
    n: int
    total: float
    questions: int
    mean: float


@dataclass(frozen=True, slots=True)
class CategoryAnswers:
    """Of one category (`all`: every one): every measure of which some trial has a value, and provenance against
    correctness, in trials. `right_ill`: right answers whose provenance fails; what was not graded or has no facts is in
    none of the four."""

    category: str
    figures: tuple[Figure, ...]
    right_sound: int
    right_ill: int
    wrong_sound: int
    wrong_ill: int


@dataclass(frozen=True, slots=True)
class ArmAnswers:
    """What the rules find in an arm's answers."""

    arm: str
    model: str
    categories: tuple[CategoryAnswers, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in an answer that a grader should read. `what`: the words of it, or the measure's reason."""

    measure: str
    arm: str
    model: str
    question: str
    trial: str
    what: str


def answers_by_arm(run: RunFolder, looked: Sequence[Looked]) -> tuple[ArmAnswers, ...]:
    """Every arm and model, in the plan's order."""
    groups = by_arm_and_model(run, (((one.record.arm, one.record.model), one) for one in looked))
    return tuple(ArmAnswers(arm, model, _categories(found)) for arm, model, found in groups)


def findings(looked: Iterable[Looked]) -> tuple[Finding, ...]:
    """Of each kind the first ones, in the order of the trials."""
    kept: dict[str, list[Finding]] = {measure: [] for measure in OF_ANSWER if measure in (*_BY_OPENING, *_BY_WORDS)}
    for one in looked:
        for measure, listed in kept.items():
            if one.values[measure] and len(listed) < FOUND:
                record = one.record
                what = _words(measure, one)
                listed.append(Finding(measure, record.arm, record.model, record.question, record.trial, what))
    return tuple(found for listed in kept.values() for found in listed)


def _categories(looked: Sequence[Looked]) -> tuple[CategoryAnswers, ...]:
    return tuple(_category(*of) for of in by_category((one.record.category, one) for one in looked))


def _category(name: str, looked: Sequence[Looked]) -> CategoryAnswers:
    cross = {(right, ill): 0 for right in (True, False) for ill in (0.0, 1.0)}
    for one in looked:
        ill = one.values["ill_sourced"]
        if ill is not None and one.context.right is not None:
            cross[one.context.right, ill] += 1
    figures = tuple(figure for measure in OF_ANSWER if (figure := _figure(measure, looked)) is not None)
    return CategoryAnswers(name, figures, *(cross[key] for key in ((True, 0), (True, 1), (False, 0), (False, 1))))


def _figure(name: str, looked: Iterable[Looked]) -> Figure | None:
    known = [(one.record.question, value) for one in looked if (value := one.values[name]) is not None]
    each = [sum(of) / len(of) for of in grouped(known).values()]
    total, unit = sum(value for _, value in known), answer_measure(name).UNIT
    return Figure(name, unit, len(known), total, len(each), sum(each) / len(each)) if known else None


def _words(measure: str, one: Looked) -> str:
    record, known, key = one.record, one.context.known, one.context.key
    if measure in _BY_OPENING or known is None:
        return record.answer[:TOLD]
    words: dict[str, Callable[[], Iterable[str]]] = {
        "dates_fabricated": lambda: fabricated_dates(record.answer, key, known),
        "dates_misplaced": lambda: (f"{date} [{doc}]" for doc, date in misplaced_dates(record.answer, key, known)),
        "ids_fabricated": lambda: (
            found.name for found in named_documents(record, one.context) if found.document is None
        ),
        "recency_wrong": lambda: (claim.named for claim in recency_claims(record.answer, key, known) if not claim.true),
    }
    return "; ".join(words[measure]())
