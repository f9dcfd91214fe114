"""Tables of speed and load: the headline, latencies in full, outcomes, stages side by side."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.accuracy import ArmAccuracy
from loadrig.analysis.latency import Latency
from loadrig.analysis.load import StageLoad
from loadrig.analysis.retrieval import ArmRecall
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.reports.table import (
    FEW_NOTE,
    Table,
    amount,
    fraction,
    label,
    number,
    seconds,
    several,
)

BOUND_NOTE = "! the stage is client-bound: its latencies are partly the rig's own"


def models_of(summary: Summary) -> list[str]:
    """The run's models, each once."""
    return list(dict.fromkeys(arm.model for arm in summary.arms))


def headlines(summary: Summary) -> Iterator[Table]:
    """One table a stage, one row an arm: what most readers came for."""
    models = models_of(summary)
    accuracy = {(row.arm, row.model): row for row in summary.accuracy}
    recall = {(row.arm, row.model): row for row in summary.recall}
    for stage in summary.stages:
        arms = [arm for arm in summary.arms if arm.stage == stage.stage]
        rows = []
        for arm in arms:
            key = (arm.arm, arm.model)
            rows.append(_headline(arm, label(*key, models), accuracy.get(key), recall.get(key)))
        headers = (
            "arm", "ok", "TTFT s", "TTFAT s", "service s", "tokens\nin/out", "turns\n/calls",
            f"{summary.currency or 'cost'}\neach", "right", "recall",
        )  # fmt: skip
        yield Table(_stage_title(stage), headers, tuple(rows), tuple(_notes(stage, arms, rows)))


def latencies(summary: Summary, *, full: bool = True) -> Table:
    """Every quantile, of the successes and with failures beyond every success; in full with their intervals.

    When not in full, and every timed trial succeeded, the second set is the first and is left out.
    """
    twice = full or any(arm.service.ok < arm.service.n for arm in summary.arms)
    rows = []
    for arm in summary.arms:
        name = f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}{'!' if arm.client_bound else ''}"
        found = (("TTFT", arm.ttft), ("TTFAT", arm.ttfat), ("service", arm.service))
        rows += [
            (name, measure, f"{of.ok} of {of.n}", *_quantiles(of, full=full, twice=twice)) for measure, of in found
        ]
    headers: tuple[str, ...] = ("arm, stage", "measure", "ok", "p50 s", "p95 s", "p99 s")
    notes = ["no timed trial failed, so with failures the figures are the same", FEW_NOTE]
    if twice:
        headers += ("p50 s\nwith failures", "p95 s\nwith failures", "p99 s\nwith failures")
        notes[0] = "with failures: a trial that did not succeed ranks beyond every success"
    if full:
        notes.insert(0, "in brackets the 95 % interval of the quantile")
    if any(arm.client_bound for arm in summary.arms):
        notes.append(BOUND_NOTE)
    return Table("Latency", headers, tuple(rows), tuple(notes))


def token_rates(summary: Summary) -> Table:
    """Time per output token of the last turn, output speed, and the longest silence between content events."""
    rows = []
    for arm in summary.arms:
        tpot, n = arm.tpot.p50, arm.tpot.p50.n if arm.tpot.p50 else 0
        speed = 1e9 / tpot.value_ns if tpot and tpot.value_ns else None
        name = f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}"
        cells = (seconds(found) for found in (arm.tpot.p50, arm.tpot.p95, arm.gap_max.p50, arm.gap_max.p95))
        rows.append((name, str(n), *cells, number(speed, 1)))
    headers = ("arm, stage", "n", "TPOT p50 s", "p95 s", "longest gap p50 s", "p95 s", "tokens/s at p50")
    notes = ("n: successes whose last turn has a TPOT: no burst, more than one token, a known split of thinking",)
    return Table("Token rate of one reply", headers, tuple(rows), notes)


def outcomes(summary: Summary) -> Table:
    """What became of the planned trials, by arm and stage."""
    rows = []
    for arm in summary.arms:
        counts = [
            ", ".join(f"{row.n}{f' {row.reason}' if row.reason else ''}" for row in arm.outcomes if row.outcome == name)
            for name in ("answered", "unanswered", "failed", "not_run")
        ]
        labels = (str(arm.first_turns.hidden_thinking), str(arm.first_turns.burst))
        name = f"{label(arm.arm, arm.model, models_of(summary))}, {arm.stage}"
        rows.append((name, str(arm.n), *(count or "0" for count in counts), *labels))
    headers = (
        "arm, stage", "planned", "answered", "unanswered", "failed", "not run", "hidden thinking first", "burst first",
    )  # fmt: skip
    return Table("Outcomes", headers, tuple(rows))


def stages(summary: Summary) -> Table:
    """Stages side by side, all arms together."""
    headers = (
        "stage", "N", "reached", "trials/s", "tokens/s", "TTFT p50 s", "p95 s", "service p50 s", "p95 s", "failed",
        f"{summary.currency or 'cost'}/question",
    )  # fmt: skip
    rows = [
        (
            f"{stage.stage}{'!' if stage.client_bound else ''}", number(stage.concurrency), number(stage.reached, 1),
            number(stage.trials_per_s, 2), number(stage.output_tokens_per_s, 1),
            seconds(stage.ttft.successes.p50), seconds(stage.ttft.successes.p95),
            seconds(stage.service.successes.p50), seconds(stage.service.successes.p95),
            f"{stage.failed} of {stage.asked}", amount(stage.cost.per_asked),
        )
        for stage in summary.stages
    ]  # fmt: skip
    bound = (BOUND_NOTE,) if any(stage.client_bound for stage in summary.stages) else ()
    return Table("Load", headers, tuple(rows), ("latencies of successes; all arms together", FEW_NOTE, *bound))


def _headline(arm: ArmFigures, name: str, accuracy: ArmAccuracy | None, recall: ArmRecall | None) -> tuple[str, ...]:
    right = accuracy.categories[0].share if accuracy else None
    found = recall.categories[0].recall if recall else None
    return (
        name,
        f"{arm.service.ok}/{arm.service.n}",
        *(several(of.successes.p50, of.successes.p95) for of in (arm.ttft, arm.ttfat, arm.service)),
        f"{number(arm.tokens_per_question.prompt)}/{number(arm.tokens_per_question.output)}",
        f"{number(arm.turns.mean, 1)}/{number(arm.tools.per_trial.mean, 1)}",
        amount(arm.cost.per_asked),
        f"{right.k}/{right.n}" if right else "-",
        fraction(found.mean if found else None),
    )


def _quantiles(of: Latency, *, full: bool, twice: bool) -> Iterator[str]:
    for spread in (of.successes, of.with_failures) if twice else (of.successes,):
        yield from (seconds(found, interval=full) for found in (spread.p50, spread.p95, spread.p99))


def _stage_title(stage: StageLoad) -> str:
    reached = "" if stage.reached is None else f", {stage.reached:.1f} reached"
    asked = "" if stage.concurrency is None else f": {stage.concurrency} in flight{reached}"
    return f"Stage {stage.stage}{asked}{' (client-bound)' if stage.client_bound else ''}"


def _notes(stage: StageLoad, arms: list[ArmFigures], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield "times are p50/p95 of successes; each: per question asked; right: pre-check; recall: gold documents"
    if any("*" in cell for row in rows for cell in row):
        yield FEW_NOTE
    if stage.client_bound:
        yield BOUND_NOTE
    for arm in arms:
        first = arm.first_turns
        if first.hidden_thinking:
            yield f"{arm.arm}: TTFT includes hidden thinking in {first.hidden_thinking} of {first.n} first turns"
        if first.burst:
            yield f"{arm.arm}: {first.burst} of {first.n} first turns came in one burst; their gaps are withheld"
