"""Checks a run must pass before its figures are believed; each failing one becomes a warning in words.

Planned = answered + unanswered + failed + not_run, always; a planned trial without a record is named missing. Answers
identical to the byte across repetitions are the mark of a cache: counted over neighbouring repetitions of a question.
A corpus on which every arm is right on at least 17 of 20 questions does not tell arms apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from loadrig.analysis.accuracy import ArmAccuracy
from loadrig.analysis.bill import Bill
from loadrig.analysis.load import CPU_LIMIT, StageLoad
from loadrig.analysis.selection import CONTROL, arm_names, asked, grouped, stage_names
from loadrig.log import RunFolder

SATURATED = 17 / 20
SAME_ANSWERS = 0.05
MOST_NOTES = 8


@dataclass(frozen=True, slots=True)
class Counts:
    """Trials of one kind (`plan`: measured and tail; `warmup`). `balanced`: planned is the sum of the four, no record
    is missing and none is beside the plan."""

    kind: str
    planned: int
    answered: int
    unanswered: int
    failed: int
    not_run: int
    missing: int
    balanced: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """`same` of `pairs` of neighbouring repetitions gave identical answers; `flagged` when more than 5 % did."""

    arm: str
    model: str
    pairs: int
    same: int
    flagged: bool


def counts(run: RunFolder) -> tuple[Counts, ...]:
    """The balance of the plan's trials and of the warm-up's."""
    return _counts(run, "plan"), _counts(run, "warmup")


def repeated_answers(run: RunFolder) -> tuple[Repeated, ...]:
    """Identical answers across repetitions, by arm and model. Empty answers are not compared."""
    place = {name: number for number, name in enumerate(stage_names(run))}
    order = {arm: number for number, arm in enumerate(arm_names(run))}
    records = [record for record in asked(run) if record.outcome == "answered"]
    records.sort(key=lambda r: (order[r.arm], r.model, place[r.stage], r.repetition))
    pairs = Counter[tuple[str, str]]()
    same = Counter[tuple[str, str]]()
    for (arm, model, _), answers in grouped(((r.arm, r.model, r.question), r.answer) for r in records).items():
        pairs[arm, model] += len(answers) - 1
        same[arm, model] += sum(first == second for first, second in pairwise(answers))
    return tuple(
        Repeated(*key, number, same[key], same[key] > SAME_ANSWERS * number) for key, number in pairs.items() if number
    )


def warnings(
    run: RunFolder,
    *,
    counted: tuple[Counts, ...],
    stages: tuple[StageLoad, ...],
    accuracy: tuple[ArmAccuracy, ...],
    repeated: tuple[Repeated, ...],
    bill: Bill,
) -> tuple[str, ...]:
    """What a reader must know first: the run's own warnings, then ours."""
    status = run.manifest.get("status")
    ours = [
        *([f"the run is {status}: figures are of what there is"] if status in ("interrupted", "running") else []),
        *_of_counts(counted),
        *_of_load(stages),
        *_of_repetition(repeated),
        *_of_saturation(accuracy),
        *_of_money(bill),
        *_of_cost_notes(run),
        *_of_flags(run),
    ]
    models = {record.model for record in run.records}
    if len(models) > 1:
        ours.append("tokens of different models are not comparable: compare models by cost only")
    return tuple(dict.fromkeys([*map(str, run.manifest.get("warnings") or []), *ours]))


def _counts(run: RunFolder, kind: str) -> Counts:
    warmup = kind == "warmup"
    plan = {trial.id for trial in run.trials if (trial.phase == "warmup") is warmup}
    records = [record for record in run.records if (record.phase == "warmup") is warmup]
    found = Counter(record.outcome for record in records)
    missing = len(plan - {record.trial for record in records})
    balanced = not missing and len(plan) == found.total()
    return Counts(
        kind, len(plan), found["answered"], found["unanswered"], found["failed"], found["not_run"], missing, balanced
    )


def _of_counts(counted: tuple[Counts, ...]) -> Iterator[str]:
    for row in counted:
        if row.missing:
            yield f"{row.missing} of {row.planned} trials ({row.kind}) have no record: --resume asks them"
        elif not row.balanced:
            yield f"the records ({row.kind}) are not those of the plan"
        if row.not_run:
            yield f"{row.not_run} of {row.planned} trials ({row.kind}) were not run"


def _of_load(stages: tuple[StageLoad, ...]) -> Iterator[str]:
    for stage in stages:
        for mark in stage.client:
            if mark.bound:
                lag_ms, limit_ms = (mark.lag_p99_ns or 0) / 1e6, mark.lag_limit_ns / 1e6
                yield (
                    f"stage {stage.stage} is client-bound: worker {mark.worker} loop lag p99 {lag_ms:.1f} ms "
                    f"(limit {limit_ms:.1f}), CPU {mark.cpu_share_max or 0:.0%} (limit {CPU_LIMIT:.0%}); "
                    "its latencies are partly the rig's own"
                )


def _of_repetition(repeated: tuple[Repeated, ...]) -> Iterator[str]:
    # The control is left out: it refuses, naturally in the same words.
    named = [f"{row.arm} {row.same} of {row.pairs}" for row in repeated if row.flagged and row.arm != CONTROL]
    if named:
        yield (
            f"repetitions answered byte for byte the same ({', '.join(named)}): a cache or a deterministic target "
            "may be answering"
        )


def _of_saturation(accuracy: tuple[ArmAccuracy, ...]) -> Iterator[str]:
    for model, arms in grouped((row.model, row) for row in accuracy if row.arm != CONTROL).items():
        shares = [row.categories[0].share for row in arms]
        if all(share is not None and share.share >= SATURATED for share in shares):
            yield f"{model}: every arm answers at least 17 of 20 rightly: the questions do not tell arms apart"


def _of_money(bill: Bill) -> Iterator[str]:
    if bill.total.unknown:
        yield f"the bill is partial: {bill.total.unknown} charges are unknown (no price, or no usage reported)"
    if bill.total.at_least:
        yield "the bill is at least what is shown: some replies broke off before their final usage"


def _of_cost_notes(run: RunFolder) -> Iterator[str]:
    """Why costs are unknown, lower bounds or priced by a rule; superseded tries stay in the bill, so in here too."""
    attempts = (
        attempt for record in (*run.records, *run.superseded) for turn in record.turns for attempt in turn.attempts
    )
    notes = Counter(note for attempt in attempts for note in attempt.cost_notes)
    for note, n in sorted(notes.items())[:MOST_NOTES]:
        yield f"cost of {n} requests: {note}"


def _of_flags(run: RunFolder) -> Iterator[str]:
    flags = Counter(flag for record in run.records if record.usage is not None for flag in record.usage.flags)
    for flag, n in sorted(flags.items()):
        yield f"token counters of {n} trials were odd: {flag}"
