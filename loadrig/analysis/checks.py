"""Checks a run must pass before its figures are believed; each failing one becomes a warning in words.

Planned = answered + unanswered + failed + not_run, always; a planned trial without a record is named missing. Answers
identical to the byte across repetitions are the mark of a cache: counted over neighbouring repetitions of a question;
the control refuses, naturally in the same words, and is not flagged. Long answers are hardly ever alike by chance, so
among them a small share tells. A stage with much tail is too short for its load:
its slow trials end last and are not timed. Faults of the instrument have checks of their own, in `safeguards`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from loadrig.analysis import connecting, noted
from loadrig.analysis.bill import Bill
from loadrig.analysis.load import StageLoad
from loadrig.analysis.selection import CONTROL, arm_names, asked, grouped, stage_names
from loadrig.bound import named
from loadrig.log import RunFolder
from loadrig.stats import at_least
from loadrig.stored import Fingerprint, fingerprint
from loadrig.words.record import Record

MUCH_TAIL, MOST_ARMS = 0.1, 3
OVER, UNDER = 1.01, 0.9
LATE_NS = 50_000_000
SAME_ANSWERS, BY_CHANCE = 0.05, 0.01
# Of two real models 0 of 120 and 1 of 120 questions of an arm, of whatever length, were answered twice the same: .4 %,
# at most 2.0 % with 95 % confidence. Some 40 tokens leave less to chance than short answers do.
LONG_CHARS, ALIKE_BY_CHANCE = 160, 0.01
FOUR_OF_FIVE = 0.8
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
    """`same` of `pairs` of neighbouring repetitions gave identical answers; `flagged` when more than 5 % did, and more
    than chance would explain, the control never."""

    arm: str
    model: str
    pairs: int
    same: int
    flagged: bool


@dataclass(frozen=True, slots=True)
class Alike:
    """Long answers of one model to the same question in the same arm, of all arms but the control: `same` of `pairs`
    are alike to the byte, no answer in two pairs. `flagged`: more than 1 % would give. `seen`: the smallest share of
    requests that, replayed whenever they come, would have been flagged in four of five cases; None: not even all."""

    model: str
    pairs: int
    same: int
    flagged: bool
    seen: float | None


def counts(run: RunFolder) -> tuple[Counts, ...]:
    """The balance of the plan's trials and of the warm-up's."""
    return _counts(run, "plan"), _counts(run, "warmup")


def repeated_answers(run: RunFolder) -> tuple[Repeated, ...]:
    """Identical answers across repetitions, by arm and model. Empty answers are not compared."""
    records = _answers(run)
    pairs = Counter[tuple[str, str]]()
    same = Counter[tuple[str, str]]()
    for (arm, model, _), answers in grouped(((r.arm, r.model, r.question), fingerprint(r)) for r in records).items():
        pairs[arm, model] += len(answers) - 1
        same[arm, model] += sum(first == second for first, second in pairwise(answers))
    return tuple(
        Repeated(*key, number, same[key], key[0] != CONTROL and _is_no_chance(same[key], number))
        for key, number in pairs.items() if number
    )  # fmt: skip


def long_answers_alike(run: RunFolder) -> tuple[Alike, ...]:
    """By model; none where no two neighbouring repetitions are long. Pairs do not overlap, so that what chance gives is
    binomial: with unlike chances at most, above the mean (Hoeffding 1956)."""
    answers = grouped(((r.model, r.arm, r.question), fingerprint(r)) for r in _answers(run) if r.arm != CONTROL)
    cells = [(model, _long_pairs(found)) for (model, _, _), found in answers.items()]
    return tuple(_alike(model, of) for model, of in grouped(cell for cell in cells if cell[1]).items())


def _answers(run: RunFolder) -> list[Record]:
    """Answered trials by arm and model, each in the order of its repetitions."""
    place = {name: number for number, name in enumerate(stage_names(run))}
    order = {arm: number for number, arm in enumerate(arm_names(run))}
    records = [record for record in asked(run) if record.outcome == "answered"]
    return sorted(records, key=lambda r: (order[r.arm], r.model, place[r.stage], r.repetition))


def _long_pairs(answers: Sequence[Fingerprint]) -> list[bool]:
    """Whether the first and second, the third and fourth and so on are alike; those of which one is short left out."""
    pairs = zip(answers[::2], answers[1::2], strict=False)
    return [first == second for first, second in pairs if min(first.chars, second.chars) >= LONG_CHARS]


def _alike(model: str, cells: Sequence[Sequence[bool]]) -> Alike:
    pairs, same = sum(map(len, cells)), sum(map(sum, cells))
    fewest = int(pairs * ALIKE_BY_CHANCE) + 1
    while fewest <= pairs and at_least(fewest, pairs, ALIKE_BY_CHANCE) >= BY_CHANCE:
        fewest += 1
    return Alike(model, pairs, same, same >= fewest, _seen(fewest, pairs, len(cells)))


def _seen(fewest: int, pairs: int, cells: int) -> float | None:
    """The share of cells, each with all its pairs, that has `fewest` pairs in four of five cases, to .0001."""
    needed = -(-fewest * cells // pairs)
    low, high = 0.0, 1.0
    if needed > cells:
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if at_least(needed, cells, middle) >= FOUR_OF_FIVE else (middle, high)
    return high


def _is_no_chance(same: int, pairs: int) -> bool:
    """More alike than 5 % would give by chance."""
    return same > SAME_ANSWERS * pairs and at_least(same, pairs, SAME_ANSWERS) < BY_CHANCE


def warnings(
    run: RunFolder,
    *,
    counted: tuple[Counts, ...],
    stages: tuple[StageLoad, ...],
    bill: Bill,
) -> tuple[str, ...]:
    """What a reader must know first: the run's own warnings, then ours."""
    status = run.manifest.get("status")
    ours = [
        *([f"the run is {status}: figures are of what there is"] if status in ("interrupted", "running") else []),
        *_of_counts(counted),
        *_of_load(run, stages),
        *_of_arrivals(stages),
        *_of_rest(stages),
        *_of_tail(run, stages),
        *connecting.warned(run, stages),
        *_of_holding(run),
        *_of_money(bill),
        *_of_cost_notes(run),
        *noted.warned(run),
        *_of_flags(run),
    ]
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


def _of_load(run: RunFolder, stages: tuple[StageLoad, ...]) -> Iterator[str]:
    rests = ((run.manifest.get("plan") or {}).get("load") or {}).get("think_s")
    for stage in stages:
        if stage.reached is not None and stage.concurrency and stage.reached < stage.concurrency * UNDER and not rests:
            yield f"stage {stage.stage}: only {stage.reached:.2f} of {stage.concurrency} in flight were reached"
        if stage.reached is not None and stage.concurrency and stage.reached > stage.concurrency * OVER:
            yield (
                f"stage {stage.stage}: {stage.reached:.2f} in flight reached is more than the {stage.concurrency} asked"
                " for: its workers' windows are shorter than the stage was, and its rates are too high"
            )
        causes = [str(cause) for mark in stage.client for cause in mark.causes]
        if causes:
            yield f"stage {stage.stage} is client-bound, its latencies are partly the rig's own: {'; '.join(causes)}"
        elif stage.client_bound is None and stage.asked:
            silent = ", ".join(named(mark.process) for mark in stage.client if mark.bound is None)
            yield f"stage {stage.stage} is not checked for client-bound: no samples of {silent or 'the rig'}"


def _of_arrivals(stages: tuple[StageLoad, ...]) -> Iterator[str]:
    for name, of in ((stage.stage, stage.open_loop) for stage in stages):
        if of is None:
            continue
        if of.growing:
            yield (
                f"stage {name} is saturated: {of.backlog[1]:.1f} trials on average were due and not ended in its "
                f"second third, {of.backlog[2]:.1f} in its last; its latencies would go on rising"
            )
        why = f"max_in_flight {of.max_in_flight} was reached" if of.full else "the rig was late"
        if of.late:
            yield f"stage {name}: {of.late} of {of.due} trials due were never sent ({why})"
        delay_ns = of.dispatch_delay.p99.value_ns if of.dispatch_delay.p99 else None
        if delay_ns is not None and delay_ns > LATE_NS:
            yield f"stage {name}: trials were sent late, at p99 {delay_ns / 1e9:.3f} s after they were due ({why})"


def _of_rest(stages: tuple[StageLoad, ...]) -> Iterator[str]:
    for name, of in ((stage.stage, stage.steady) for stage in stages):
        if of is not None and not of.steady:
            yield (
                f"stage {name} is not steady: by MSER-5 the first {of.cut} of its {of.n} latencies belong to its "
                "beginning, more than half; it should last longer, or begin with more warm-up"
            )


def _of_holding(run: RunFolder) -> Iterator[str]:
    """First attempts wait for leave under their model's own limits, and for nothing else."""
    held = [(r.model, sum(turn.attempts[0].backoff_ns for turn in r.turns if turn.attempts)) for r in asked(run)]
    for model, of in grouped(held).items():
        if waited := [wait_ns for wait_ns in of if wait_ns]:
            yield (
                f"{len(waited)} of {len(of)} trials waited for the requests or tokens a minute that the plan grants "
                f"{model}, {sum(waited) / 1e9:.1f} s in all: back-off of the rig, in no latency of a first turn"
            )


def _of_tail(run: RunFolder, stages: tuple[StageLoad, ...]) -> Iterator[str]:
    records = asked(run)
    models = {record.model for record in records}
    for stage in stages:
        mine = (record for record in records if record.stage == stage.stage)
        groups = grouped((_named(r.arm, r.model, models), r.phase == "tail") for r in mine)
        much = [name for name, of in groups.items() if sum(of) > MUCH_TAIL * len(of)]
        if much:
            much.sort(key=lambda name: -sum(groups[name]) / len(groups[name]))
            named = [f"{name} {sum(groups[name])} of {len(groups[name])}" for name in much[:MOST_ARMS]]
            named += [f"{len(much) - MOST_ARMS} arms more"] if len(much) > MOST_ARMS else []
            load = "its load" if stage.concurrency is None else f"{stage.concurrency} in flight"
            yield (
                f"stage {stage.stage} is too short for {load}: {stage.tail} of {stage.asked} trials ended in its "
                f"tail and are not timed ({', '.join(named)}); slow ones end last, so its latencies look too good"
            )


def _named(arm: str, model: str, models: set[str]) -> str:
    return f"{arm} ({model})" if len(models) > 1 else arm


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
