"""Tables of what became of the trials, why some failed, and of the stages side by side."""

from __future__ import annotations

from loadrig.analysis.latency import Spread
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import ArmFigures, OutcomeCount, Summary
from loadrig.reports.speed import models_of, row_header, row_name
from loadrig.reports.table import (
    FEW_NOTE,
    Table,
    amount,
    bound_mark,
    bound_notes,
    label,
    number,
    one_line,
    seconds,
    several,
)
from loadrig.stats import Quantile

OUTCOMES = ("answered", "unanswered", "failed", "not_run")


def stages(summary: Summary) -> Table:
    """Stages side by side, all arms together."""
    headers = (
        "stage", "N", "reached", "over n", "trials/s", "tokens/s", "TTFT\np50 s", "p95 s", "service\np50 s", "p95 s",
        "failed", "tail", f"{summary.currency or 'cost'}\n/question",
    )  # fmt: skip
    rows = [
        (
            f"{stage.stage}{bound_mark(stage.client_bound)}", number(stage.concurrency), number(stage.reached, 1),
            str(stage.window_n), number(stage.trials_per_s, 2), number(stage.output_tokens_per_s, 1),
            seconds(stage.ttft.successes.p50), seconds(stage.ttft.successes.p95),
            seconds(stage.service.successes.p50), seconds(stage.service.successes.p95),
            f"{stage.failed}/{stage.asked}", f"{stage.tail}/{stage.asked}", amount(stage.cost.per_asked),
        )
        for stage in summary.stages
    ]  # fmt: skip
    notes = ["latencies of successes; all arms together; failed and tail: of the trials asked; tail is not timed"]
    if any(stage.reached is None for stage in summary.stages):
        notes.append("no rate is given over fewer measured trials (over n) than N")
    bound = bound_notes(*(stage.client_bound for stage in summary.stages))
    return Table("Load", headers, tuple(rows), (*notes, FEW_NOTE, *bound))


def arrivals(summary: Summary) -> Table | None:
    """Open-loop stages side by side, all arms together; None when there is none."""
    rows = [
        (
            f"{stage.stage}{bound_mark(stage.client_bound)}", number(loop.rate_per_s, 2), number(loop.offered_per_s, 2),
            number(loop.achieved_per_s, 2), f"{loop.in_flight_mean:.1f}/{loop.in_flight_max}",
            f"{loop.scheduled.ok}/{loop.scheduled.n}", several(*_quantiles(loop.scheduled.successes)),
            several(*_quantiles(stage.service.successes)),
            several(loop.dispatch_delay.p50, loop.dispatch_delay.p95, loop.dispatch_delay.p99),
        )
        for stage in summary.stages if (loop := stage.open_loop) is not None
    ]  # fmt: skip
    headers = (
        "stage", "rate\n/s", "offered", "achieved", "in flight\nmean/max", "ok of\ndue", "scheduled s\np50/p95/p99",
        "service s\np50/p95/p99", "sent late s\np50/p95/p99",
    )  # fmt: skip
    notes = (
        "offered: due a second; achieved: ended well a second; sent late: begin - due; scheduled = sent late + service",
        FEW_NOTE, *bound_notes(*(stage.client_bound for stage in summary.stages)),
    )  # fmt: skip
    return Table("Open loop", headers, tuple(rows), notes) if rows else None


def outcomes(summary: Summary, *, full: bool = True) -> Table | None:
    """What became of the planned trials; when not in full, only the arms with other than answers, None without any."""
    arms = [arm for arm in summary.arms if full or any(row.outcome != "answered" for row in arm.outcomes)]
    rows = []
    for arm in arms:
        counts = (", ".join(_count(row) for row in arm.outcomes if row.outcome == outcome) for outcome in OUTCOMES)
        cells = (str(arm.n), *(count or "0" for count in counts))
        rows.append((row_name(summary, arm), *cells, *(_labels(arm) if full else ())))
    labels = ("timed", "tail", "asked again", "hidden thinking first", "burst first") if full else ()
    headers = (row_header(summary), "planned", "answered", "unanswered", "failed", "not run", *labels)
    return Table("Outcomes", headers, tuple(rows)) if rows or full else None


def failures(summary: Summary) -> Table | None:
    """Why trials failed: the commonest detail of each arm and reason; None when none failed."""
    rows = tuple(
        (
            label(row.arm, row.model, models_of(summary)) + (" (warm-up)" if row.kind == "warmup" else ""),
            _with_phase(row.reason, row.phase), str(row.n), one_line(f"{row.detail_n} x {row.detail}"),
        )
        for row in summary.failures
    )  # fmt: skip
    notes = ("all stages together; the commonest detail, with how many of the trials it is of",)
    return Table("Why trials failed", ("arm", "reason", "trials", "commonest detail"), rows, notes) if rows else None


def reasons(summary: Summary) -> Table | None:
    """Why trials failed, arms of one reason and detail on one row; None when none failed."""
    models = models_of(summary)
    groups = grouped(((row.reason, row.phase, row.detail), row) for row in summary.failures)
    rows = []
    for (reason, phase, detail), found in sorted(groups.items(), key=lambda group: -sum(row.n for row in group[1])):
        arms = list(dict.fromkeys(label(row.arm, row.model, models) for row in found))
        warmup = sum(row.n for row in found if row.kind == "warmup")
        trials = f"{sum(row.n for row in found)}" + (f", {warmup} of them warm-up" if warmup else "")
        said = one_line(f"{sum(row.detail_n for row in found)} x {detail}")
        rows.append((_with_phase(reason, phase), trials, arms[0] if len(arms) == 1 else f"{len(arms)} arms", said))
    notes = ("the commonest detail of each arm and reason, with how many of the trials gave it; by arm in report.md",)
    return (
        Table("Why trials failed", ("reason", "trials", "arms", "commonest detail"), tuple(rows), notes)
        if rows
        else None
    )


def _quantiles(of: Spread) -> tuple[Quantile | None, ...]:
    return of.p50, of.p95, of.p99


def _labels(arm: ArmFigures) -> tuple[str, ...]:
    return tuple(map(str, (arm.timed, arm.tail, arm.again, arm.first_turns.hidden_thinking, arm.first_turns.burst)))


def _count(row: OutcomeCount) -> str:
    return f"{row.n} {_with_phase(row.reason, row.phase)}" if row.reason else str(row.n)


def _with_phase(reason: str | None, phase: str | None) -> str:
    return f"{reason or '-'} ({phase})" if phase else reason or "-"
