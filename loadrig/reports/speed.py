"""Tables of latency: the headline of each stage, every quantile both ways, intervals, token rates, retrieval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loadrig.analysis.accuracy import ArmAccuracy
from loadrig.analysis.latency import Latency
from loadrig.analysis.load import StageLoad
from loadrig.analysis.retrieval import ArmRecall
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.reports.table import (
    FEW_NOTE,
    NONE,
    Table,
    amount,
    bound_mark,
    bound_notes,
    fraction,
    interval,
    label,
    number,
    seconds,
    several,
)  # fmt: skip

MOST = 3  # arms that a note names
OPEN = (
    "open loop: trials are due at times fixed beforehand, whatever the target does; scheduled latency counts from the "
    "due time, so it holds what users wait while the target stalls"
)
CLOSED = (
    "closed loop: a trial is sent when another ends; while the target stalls fewer are sent, so the users who would "
    "wait are hidden"
)

CLOSED_TIMES = (
    "ok of\ntimed", "tail", "TTFT s\np50/p95", "TTFAT s\np50/p95", "service s\np50/p95",
    "tokens\nin/out", "turns\n/calls",
)  # fmt: skip
OPEN_TIMES = (
    "ok of\ndue", "scheduled s\np50/p95", "p99", "service s\np50/p95", "sent late\np95 s", "TTFT s\np50/p95",
    "tokens\nin/out",
)  # fmt: skip

Key = tuple[str, str]


def models_of(summary: Summary) -> list[str]:
    """The run's models, each once."""
    return list(dict.fromkeys(arm.model for arm in summary.arms))


def row_name(summary: Summary, arm: ArmFigures) -> str:
    """The arm, with its stage where there are several."""
    name = label(arm.arm, arm.model, models_of(summary))
    return name if len(summary.stages) < 2 else f"{name}, {arm.stage}"


def timed_name(summary: Summary, arm: ArmFigures) -> str:
    """`row_name` where the row holds times: marked when they are partly the rig's own."""
    return f"{row_name(summary, arm)}{bound_mark(arm.client_bound)}"


def notes_of(summary: Summary) -> tuple[str, ...]:
    """What the marks of `timed_name` mean; empty when no row has one."""
    return bound_notes(*(arm.client_bound for arm in summary.arms))


def row_header(summary: Summary) -> str:
    """The header above `row_name`."""
    return "arm" if len(summary.stages) < 2 else "arm, stage"


def headlines(summary: Summary) -> Iterator[Table]:
    """One table a stage, one row an arm: what most readers came for."""
    models = models_of(summary)
    accuracy: dict[Key, ArmAccuracy] = {(row.arm, row.model): row for row in summary.accuracy}
    recall: dict[Key, ArmRecall] = {(row.arm, row.model): row for row in summary.recall}
    for stage in summary.stages:
        arms = {label(arm.arm, arm.model, models): arm for arm in summary.arms if arm.stage == stage.stage}
        rows = []
        for name, arm in arms.items():
            key = (arm.arm, arm.model)
            rows.append((name, *_times(arm), *_means(arm, accuracy.get(key), recall.get(key))))
        times = OPEN_TIMES if stage.open_loop else CLOSED_TIMES
        means = (f"{summary.currency or 'cost'}\neach", "right", "recall")
        few = (FEW_NOTE,) if any("*" in cell for row in rows for cell in row) else ()
        bound = bound_notes(stage.client_bound)
        notes = (OPEN if stage.open_loop else CLOSED, *_notes(arms, accuracy, summary.grading.by), *few, *bound)
        yield Table(stage_title(stage), ("arm", *times, *means), tuple(rows), notes)


def latencies(summary: Summary) -> Table:
    """Every quantile, of the successes and with failures beyond every success."""
    rows = [
        (name, measure, f"{of.ok} of {of.n}", *_three(of, failures=False), *_three(of, failures=True))
        for name, measure, of in _measures(summary)
    ]
    headers = (
        row_header(summary), "measure", "ok", "p50 s", "p95 s", "p99 s", "with failures: p50 s", "p95 s", "p99 s",
    )  # fmt: skip
    notes = ("with failures: a trial that did not succeed ranks beyond every success", FEW_NOTE)
    return Table("Latency", headers, tuple(rows), (*notes, *notes_of(summary)))


def with_failures(summary: Summary) -> Table | None:
    """The arms of which some timed trials succeeded and some did not, those ranked beyond every success."""
    arms = [(arm, arm.service if arm.scheduled is None else arm.scheduled) for arm in summary.arms]
    rows = [
        (timed_name(summary, arm), f"{whole.ok}/{whole.n}",
         *(cell for of in (arm.ttft, whole) for cell in _three(of, failures=True)))
        for arm, whole in arms if 0 < whole.ok < whole.n
    ]  # fmt: skip
    whole = "scheduled" if any(arm.scheduled is not None for arm in summary.arms) else "service"
    headers = (
        row_header(summary), "ok of\ntimed", "TTFT\np50 s", "p95 s", "p99 s", f"{whole}\np50 s", "p95 s", "p99 s",
    )  # fmt: skip
    notes = ("trials that did not succeed rank beyond every success; >: beyond the longest time known",)
    return Table("Latency with failures", headers, tuple(rows), (*notes, *notes_of(summary))) if rows else None


def intervals(summary: Summary) -> Table:
    """The 95 % intervals of the quantiles of successes."""
    rows = []
    for name, measure, of in _measures(summary):
        found = of.successes
        rows.append((name, measure, f"{of.ok} of {of.n}", *map(interval, (found.p50, found.p95, found.p99))))
    notes = ("of successes; -: too few samples to bound that side",)
    headers = (row_header(summary), "measure", "ok", "p50 s", "p95 s", "p99 s")
    return Table("95 % intervals of latency", headers, tuple(rows), (*notes, *notes_of(summary)))


def token_rates(summary: Summary) -> Table:
    """Time per output token of the last turn, output speed, and the longest silence between content events."""
    rows = []
    for arm in summary.arms:
        tpot, n = arm.tpot.p50, arm.tpot.p50.n if arm.tpot.p50 else 0
        speed = 1e9 / tpot.value_ns if tpot and tpot.value_ns else None
        cells = (seconds(found) for found in (arm.tpot.p50, arm.tpot.p95, arm.gap_max.p50, arm.gap_max.p95))
        rows.append((timed_name(summary, arm), str(n), *cells, number(speed, 1)))
    headers = (row_header(summary), "n", "TPOT p50 s", "p95 s", "longest gap p50 s", "p95 s", "tokens/s at p50")
    notes = ("n: successes whose last turn has a TPOT: no burst, more than one token, a known split of thinking",)
    return Table("Token rate of one reply", headers, tuple(rows), (*notes, *notes_of(summary)))


def retrieval(summary: Summary) -> Table | None:
    """Time spent searching before the question is asked; None when no arm does."""
    rows = tuple(
        (timed_name(summary, arm), str(arm.retrieval.n), seconds(arm.retrieval.p50), seconds(arm.retrieval.p95),
         fraction(arm.retrieval.queue_share))
        for arm in summary.arms if arm.retrieval.n
    )  # fmt: skip
    headers = (row_header(summary), "n", "p50 s", "p95 s", "of it waiting")
    notes = ("of successes, part of TTFT; searches by the agent's tools are tool time; waiting: all but its computing",)
    return Table("Retrieval", headers, rows, (*notes, *notes_of(summary))) if rows else None


def stage_title(stage: StageLoad) -> str:
    """`Stage c8: 8 in flight, 8.0 reached, 7.86 trials/s, 476 tokens/s in 4.5 s, 35 trials (client-bound)`, or
    `Stage r2: 2/s poisson, 1.95 offered, 1.93 achieved, 4.1 in flight, at most 9`."""
    said = {True: " (client-bound)", None: " (client-bound? not checked)", False: ""}[stage.client_bound]
    if (loop := stage.open_loop) is not None:
        return (
            f"Stage {stage.stage}: {loop.rate_per_s:g}/s {loop.arrivals}, {loop.offered_per_s:.2f} offered, "
            f"{loop.achieved_per_s:.2f} achieved, {loop.in_flight_mean:.1f} in flight, at most "
            f"{loop.in_flight_max}{said}"
        )
    asked = "" if stage.concurrency is None else f": {stage.concurrency} in flight"
    if stage.reached is not None:
        rates = f"{number(stage.trials_per_s, 2)} trials/s, {number(stage.output_tokens_per_s)} tokens/s"
        asked += f", {stage.reached:.1f} reached, {rates} over {stage.window_n} trials"
    elif stage.window_n:
        asked += f", too few trials ({stage.window_n} measured) to say what was reached"
    return f"Stage {stage.stage}{asked}{said}"


def _times(arm: ArmFigures) -> tuple[str, ...]:
    """The cells under `OPEN_TIMES` or `CLOSED_TIMES`."""
    tokens = f"{number(arm.tokens_per_question.prompt)}/{number(arm.tokens_per_question.output)}"
    if arm.scheduled is None:
        latencies = (several(of.successes.p50, of.successes.p95) for of in (arm.ttft, arm.ttfat, arm.service))
        turns = f"{number(arm.turns.mean, 1)}/{number(arm.tools.per_trial.mean, 1)}"
        return f"{arm.service.ok}/{arm.service.n}", str(arm.tail + arm.again), *latencies, tokens, turns
    spread, late = arm.scheduled.successes, arm.dispatch_delay.p95 if arm.dispatch_delay else None
    return (
        f"{arm.scheduled.ok}/{arm.scheduled.n}", several(spread.p50, spread.p95), seconds(spread.p99),
        several(arm.service.successes.p50, arm.service.successes.p95), seconds(late),
        several(arm.ttft.successes.p50, arm.ttft.successes.p95), tokens,
    )  # fmt: skip


def _means(arm: ArmFigures, accuracy: ArmAccuracy | None, recall: ArmRecall | None) -> tuple[str, ...]:
    right = accuracy.categories[0].of_asked if accuracy else None
    found = recall.categories[0].recall if recall else None
    return (
        amount(arm.cost.per_asked),
        f"{right.k}/{right.n}" if right else NONE,
        fraction(found.mean if found else None),
    )


def _notes(arms: Mapping[str, ArmFigures], accuracy: Mapping[Key, ArmAccuracy], by: str) -> Iterator[str]:
    yield "times of successes, p99 and more in report.md; each: per question asked; recall: of gold documents"
    unheard = []
    for name, arm in arms.items():
        row = accuracy.get((arm.arm, arm.model))
        if row and (row.categories[0].unanswered or row.categories[0].failed):
            unheard.append(f"{name} {row.categories[0].unanswered} unanswered, {row.categories[0].failed} failed")
    more = [f"{len(unheard) - MOST} arms more"] if len(unheard) > MOST else []
    yield "; ".join((f"right: {by}, of the questions asked", *unheard[:MOST], *more))
    if any(arm.tail or arm.again for arm in arms.values()):
        again = " or were lost and asked again" if any(arm.again for arm in arms.values()) else ""
        yield f"tail: trials that ended with fewer than N in flight{again}: not timed, yet in the bill and in accuracy"
    if none := [name for name, arm in arms.items() if arm.service.n and not arm.service.ok]:
        yield f"no timed trial succeeded, so there are no times, of {', '.join(none)}"
    for name, arm in arms.items():
        yield from _notes_of(arm, name)


def _notes_of(arm: ArmFigures, name: str) -> Iterator[str]:
    if not arm.timed and arm.tail:
        yield f"{name}: nothing timed, as all {arm.tail} trials ended in the tail"
    first = arm.first_turns
    if first.hidden_thinking:
        yield f"{name}: TTFT includes hidden thinking in {first.hidden_thinking} of {first.n} first turns"
    if first.burst:
        yield f"{name}: {first.burst} of {first.n} first turns came in one burst; their gaps are withheld"


def _measures(summary: Summary) -> Iterator[tuple[str, str, Latency]]:
    for arm in summary.arms:
        scheduled = () if arm.scheduled is None else (("scheduled", arm.scheduled),)
        for measure, of in (*scheduled, ("TTFT", arm.ttft), ("TTFAT", arm.ttfat), ("service", arm.service)):
            yield timed_name(summary, arm), measure, of


def _three(of: Latency, *, failures: bool) -> Iterator[str]:
    spread = of.with_failures if failures else of.successes
    return map(seconds, (spread.p50, spread.p95, spread.p99))
