"""What documents are worth: each arm's gap to the control, and what the control does instead of answering.

    gap = share of questions right of the arm - that of the control, over the questions that both were asked

by the first asked trial of each, what was not answered counted as not right, dropped questions kept: without them the
control has nothing right by construction. The interval is a bootstrap over questions, the p McNemar's exact, adjusted
by Holm over a model's arms. `best` is the arm with the largest gap: chosen after the fact, so it flatters.

The control's answers have one label each, the first of these that fits:
    right          right by the grading that counts
    confabulation  states what was superseded, was never there, or takes a trap's assumption for true
    guess          hedges (probably, typically, my guess), whether or not it declines first
    refusal        declines, or the model refused
    confabulation  any other answer: something told flatly that no document said
    none           no answer: an error, an empty one
    ungraded       an answer to a question whose key demands nothing
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from loadrig.analysis.contexts import Looked
from loadrig.analysis.selection import CONTROL, arm_names, by_category, grouped
from loadrig.log import RunFolder
from loadrig.measures.context import answered
from loadrig.measures.declining import hedges
from loadrig.statistics.clustered import mean_difference
from loadrig.statistics.keyed import single_each
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.several import holm

Label = Literal["right", "confabulation", "guess", "refusal", "none", "ungraded"]
LABELS: tuple[Label, ...] = ("right", "refusal", "guess", "confabulation", "none", "ungraded")
_ASSERTS = ("stale", "invented", "trap_taken")


@dataclass(frozen=True, slots=True)
class Gap:
    """An arm against the control over `n` questions: shares right, their difference and its 95 % interval, McNemar's
    exact p and Holm's over the model's arms."""

    arm: str
    model: str
    n: int
    right: float
    control: float
    gap: float
    low: float | None
    high: float | None
    p: float
    p_holm: float
    best: bool


@dataclass(frozen=True, slots=True)
class Controlled:
    """What a model does without documents, in trials of one category (`all`: every one), by label."""

    model: str
    category: str
    n: int
    labels: Mapping[str, int]


def label(one: Looked) -> Label:
    """The label of an answer given without documents."""
    record, context = one.record, one.context
    if context.right:
        return "right"
    if record.reason == "refused" or not answered(record):
        return "refusal" if record.reason == "refused" else "none"
    if any(one.values[name] for name in _ASSERTS):
        return "confabulation"
    if hedges(record.answer):
        return "guess"
    if one.values["declined"]:
        return "refusal"
    return "ungraded" if context.complete is None and context.right is None else "confabulation"


def controlled(looked: Iterable[Looked]) -> tuple[Controlled, ...]:
    """The labels of every model's control, all categories and each; none without a control."""
    own = [one for one in looked if one.record.arm == CONTROL]
    models = sorted(grouped((one.record.model, (one.record.category, label(one))) for one in own).items())
    rows = []
    for model, found in models:
        for category, of in by_category(found):
            counted = Counter(of)
            rows.append(Controlled(model, category, len(of), {name: counted[name] for name in LABELS}))
    return tuple(rows)


def gaps(run: RunFolder, looked: Sequence[Looked]) -> tuple[Gap, ...]:
    """Every grounded arm against its model's control, in the plan's order; none without a control."""
    first: dict[tuple[str, str], dict[str, bool]] = {}
    for one in looked:
        if one.context.complete is not None or one.context.right is not None:
            record = one.record
            first.setdefault((record.model, record.arm), {}).setdefault(record.question, bool(one.context.right))
    models = sorted({model for model, arm in first if arm == CONTROL})
    grounded = [arm for arm in arm_names(run) if arm != CONTROL]
    return tuple(
        gap
        for model in models
        for gap in _of_model(model, {arm: first[model, arm] for arm in (CONTROL, *grounded) if (model, arm) in first})
    )


def _of_model(model: str, arms: Mapping[str, Mapping[str, bool]]) -> list[Gap]:
    control = arms[CONTROL]
    tested = []
    for arm, verdicts in arms.items():
        paired = mcnemar(control, verdicts) if arm != CONTROL else None
        if paired is not None:
            each = mean_difference(single_each(control), single_each(verdicts))
            tested.append((arm, paired, each))
    adjusted = holm([paired.p for _, paired, _ in tested])
    largest = max((each.value for _, _, each in tested if each), default=0.0)
    return [
        Gap(arm, model, each.n, each.b, each.a, each.value, each.low, each.high, paired.p, p, each.value == largest)
        for (arm, paired, each), p in zip(tested, adjusted, strict=True)
        if each is not None
    ]
