"""What load a stage really was: concurrency reached, throughput, and whether the rig itself was the bottleneck.

Times of different workers are never compared. Each worker's steady window runs, on its own clock, from the begin of
its first measured trial to the end of its last; a stretch of more than 10 s with nothing in flight (the run was
interrupted there and resumed) is taken out. Concurrency reached = the sum over workers of (time in flight within the
window, summed over all trials) / window. Throughput = the sum over workers of (measured successes, or output tokens of
measured trials) / window.

A stage is client-bound when a worker's loop lag p99 > max(5 ms, 5 % of the stage's TTFT p50), or its CPU > 85 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadrig.analysis.accuracy import correct
from loadrig.analysis.bill import PerQuestion, currency_of, per_question
from loadrig.analysis.latency import Latency, latency
from loadrig.analysis.selection import asked, grouped, stage_names, succeeded, timed
from loadrig.log import RunFolder
from loadrig.words.record import Record

PAUSE_NS = 10_000_000_000
LAG_FLOOR_NS, LAG_SHARE, CPU_LIMIT = 5_000_000, 0.05, 0.85


@dataclass(frozen=True, slots=True)
class ClientMark:
    """A worker's own lateness in a stage against the limit (ns), and its busiest CPU share of one core."""

    worker: str
    lag_n: int | None
    lag_p50_ns: int | None
    lag_p99_ns: int | None
    lag_limit_ns: int
    cpu_share_max: float | None
    bound: bool


@dataclass(frozen=True, slots=True)
class StageLoad:
    """A stage, all arms together. `reached`: mean trials in flight; None when no window can be told.

    `client_bound` is None when the rig's self-measurement is missing.
    """

    stage: str
    concurrency: int | None
    reached: float | None
    window_s: float | None
    trials_per_s: float | None
    output_tokens_per_s: float | None
    asked: int
    failed: int
    ttft: Latency
    service: Latency
    cost: PerQuestion
    client_bound: bool | None
    client: tuple[ClientMark, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """A worker's steady window of a stage; `length_ns` is without pauses, `busy_ns` sums time in flight over trials."""

    length_ns: int
    busy_ns: int
    successes: int
    output_tokens: int


def stage_loads(run: RunFolder) -> tuple[StageLoad, ...]:
    """Every stage in the order it ran."""
    return tuple(_stage(run, name) for name in stage_names(run))


def _stage(run: RunFolder, name: str) -> StageLoad:
    mine = [record for record in asked(run) if record.stage == name]
    times = [record for record in timed(run) if record.stage == name]
    ttft = latency(times, "ttft")
    marks = _marks(run, name, ttft)
    windows = _windows(r for r in (*run.records, *run.superseded) if r.stage == name)
    asked_for = {str(stage["name"]): stage.get("concurrency") for stage in run.manifest.get("stages", [])}
    return StageLoad(
        stage=name,
        concurrency=asked_for.get(name),
        reached=_rate([(window.busy_ns, window) for window in windows]),
        window_s=max((window.length_ns / 1e9 for window in windows), default=None),
        trials_per_s=_rate([(window.successes * 1e9, window) for window in windows]),
        output_tokens_per_s=_rate([(window.output_tokens * 1e9, window) for window in windows]),
        asked=len(mine),
        failed=sum(record.outcome == "failed" for record in mine),
        ttft=ttft,
        service=latency(times, "service"),
        cost=per_question(mine, currency_of(run), correct=correct(run, mine)),
        client_bound=any(mark.bound for mark in marks) if marks else None,
        client=marks,
    )


def _rate(parts: Sequence[tuple[float, Window]]) -> float | None:
    return sum(amount / window.length_ns for amount, window in parts) if parts else None


def _windows(records: Iterable[Record]) -> list[Window]:
    groups = grouped((record.worker, record) for record in records if record.worker is not None)
    found = (_window(mine) for mine in groups.values())
    return [window for window in found if window is not None]


def _window(records: Sequence[Record]) -> Window | None:
    spans = [(r.begin_ns, r.end_ns, r) for r in records if r.begin_ns is not None and r.end_ns is not None]
    spans.sort(key=lambda span: span[:2])
    measured = [span for span in spans if span[2].phase == "measured"]
    if not measured:
        return None
    first, last = measured[0][0], max(end for _, end, _ in measured)
    busy, paused, reach = 0, 0, first
    for begin, end, _ in spans:
        begin, end = max(begin, first), min(end, last)  # noqa: PLW2901 - the part inside the window
        if begin >= end:
            continue
        paused += begin - reach if begin - reach > PAUSE_NS else 0
        reach = max(reach, end)
        busy += end - begin
    length = last - first - paused
    tokens = sum((r.usage.output or 0) for _, _, r in measured if r.usage is not None)
    successes = sum(succeeded(r) for _, _, r in measured)
    return Window(length, busy, successes, tokens) if length > 0 else None


def _marks(run: RunFolder, stage: str, ttft: Latency) -> tuple[ClientMark, ...]:
    p50 = ttft.successes.p50
    limit_ns = max(LAG_FLOOR_NS, round(LAG_SHARE * (p50.value_ns or 0)) if p50 else 0)
    marks = []
    for row in run.manifest.get("self_measurement") or []:
        if row.get("stage") != stage:
            continue
        lag_ns, cpu = row.get("lag_p99_ns"), row.get("cpu_share_max")
        bound = (lag_ns or 0) > limit_ns or (cpu or 0) > CPU_LIMIT
        marks.append(
            ClientMark(str(row.get("worker")), row.get("lag_n"), row.get("lag_p50_ns"), lag_ns, limit_ns, cpu, bound)
        )
    return tuple(marks)
