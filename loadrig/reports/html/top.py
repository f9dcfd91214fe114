"""The top of the page: what was run, whether its figures can be believed, and the key figures of every arm.

A verdict is a word and a sign, never a colour alone. Says what the summary says, in its order: the balance of trials,
the rig, the safeguards, a screening, the knee of a sweep, then every warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from loadrig.analysis.selection import arm_names
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.log import RunFolder
from loadrig.reports import safeguards, sweep
from loadrig.reports.html.pieces import Cell, of_amount, of_number, of_quantile, of_share
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, amount, bound_mark, label, number, one_line

Sign = Literal["good", "look", "bad", "unknown", "plain"]
VERDICTS: dict[str, Sign] = {"passed": "good", "warned": "look", "failed": "bad", "not checked": "unknown"}
WORST_FIRST: tuple[Sign, ...] = ("bad", "look", "unknown", "plain", "good")
WHOLE = ("complete",)
STAGES_EACH = 2  # client-bound ones that have a line each
OPEN_AT_ONCE = 24  # rows of key figures that are shown unfolded


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the verdict; `of`: a section that has more."""

    sign: Sign
    text: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    """Key figures of a stage: an arm a row, cells under `headers`."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]


def what(run: RunFolder, summary: Summary) -> str:
    """What was run, in a sentence or two."""
    identity, plan = summary.identity, run.manifest.get("plan") or {}
    arms, models = len(arm_names(run)), models_of(summary)
    corpus: dict[str, Any] = identity.corpus if isinstance(identity.corpus, dict) else {}
    repetitions = plan.get("repetitions") or 1
    parts = [
        _counted(arms, "arm"),
        _counted(len(run.questions), "question") + (f" asked {repetitions} times" if repetitions > 1 else ""),
        ", ".join(map(one_line, models)) or "no model",
    ]
    if corpus.get("name"):
        parts.append(f"corpus {one_line(str(corpus['name']))} of {_counted(corpus.get('documents') or 0, 'document')}")
    return f"Plan {one_line(identity.plan)}: {', '.join(parts)}. {_load(summary)} {_when(summary)}".strip()


def told(summary: Summary) -> Iterator[Told]:
    """The lines of the verdict, behind the balance of trials."""
    yield from _ended(summary)
    bound = tuple(f"stage {stage.stage} is client-bound" for stage in summary.stages)
    unchecked = tuple(f"stage {stage.stage} is not checked" for stage in summary.stages)
    for warning in summary.warnings:
        if not warning.startswith(bound):
            yield Told("unknown" if warning.startswith(unchecked) else "look", warning)
    yield from _bound(summary)
    if summary.stages and all(stage.client_bound is False for stage in summary.stages):
        yield Told("good", "no stage was client-bound: the rig kept up", "rig")
    worst = next((one.verdict for one in safeguards.troubles(summary)), "passed")
    if summary.safeguards:
        yield Told(VERDICTS[worst], safeguards.headline(summary), "safeguards")
    for one in safeguards.troubles(summary):
        if one.verdict == "failed":
            yield Told("bad", safeguards.line(one, summary), "safeguards")
    if summary.screening is not None:
        yield Told("plain", f"Screening: {summary.screening.sentence}")
    if summary.sweep is not None:
        yield Told("plain", ". ".join(_sentences(summary)), "load")


def headers(summary: Summary) -> tuple[str, ...]:
    """Above the key figures."""
    whole = "scheduled" if any(arm.scheduled for arm in summary.arms) else "service"
    unit = summary.currency or "cost"
    return (
        "arm", "ok of\ntimed", "TTFT\np50 s", "TTFT\np95 s", f"{whole}\np50 s", f"{whole}\np95 s", "right",
        f"{unit} per\nquestion",
    )  # fmt: skip


def keys(summary: Summary) -> list[Keys]:
    """Of every stage in the order it ran."""
    found = []
    for stage in summary.stages:
        arms = [(place, arm) for place, arm in enumerate(summary.arms) if arm.stage == stage.stage]
        title = f"Stage {stage.stage}{bound_mark(stage.client_bound)}"
        found.append(Keys(title, headers(summary), tuple(_row(summary, place, arm) for place, arm in arms)))
    return [one for one in found if one.rows]


def _row(summary: Summary, place: int, arm: ArmFigures) -> tuple[str | Cell, ...]:
    of = f"/arms/{place}"
    whole = f"{of}/{'service' if arm.scheduled is None else 'scheduled'}"
    ok, n = of_number(summary, f"{whole}/ok"), of_number(summary, f"{whole}/n")
    rights = [number for number, row in enumerate(summary.accuracy) if (row.arm, row.model) == (arm.arm, arm.model)]
    right = of_share(summary, f"/accuracy/{rights[0]}/categories/0/of_asked") if rights else Cell(NONE)
    quantiles = (of_quantile(summary, f"{of}/ttft/successes/{name}") for name in ("p50", "p95"))
    wholes = (of_quantile(summary, f"{whole}/successes/{name}") for name in ("p50", "p95"))
    name = f"{label(arm.arm, arm.model, models_of(summary))}{bound_mark(arm.client_bound)}"
    counted = Cell(f"{ok.text} of {n.text}", ok.pointer, ok.value)
    return (name, counted, *quantiles, *wholes, right, _cost(summary, place, arm))


def _cost(summary: Summary, place: int, arm: ArmFigures) -> Cell:
    """Cost of a question asked, with how many were and, of a run of one stage, its interval over questions."""
    cell = of_amount(summary, f"/arms/{place}/cost/per_asked")
    small = f"n {arm.cost.asked}"
    of = next((one for one in summary.frontier.placed if (one.arm, one.model) == (arm.arm, arm.model)), None)
    if of is not None and of.low is not None and of.high is not None and len(summary.stages) == 1:
        small = f"{amount(f'{of.low:.12f}')} to {amount(f'{of.high:.12f}')}, {small}"
    least = ">= " if arm.cost.total.at_least or arm.cost.total.unknown else ""
    return Cell(
        f"{least}{cell.text}" if cell.pointer else NONE, cell.pointer, cell.value, small=small, title=cell.title
    )


def _bound(summary: Summary) -> Iterator[Told]:
    """Stages whose times are partly the rig's own, each with its causes; many of them in one line with the worst."""
    found = {stage.stage: [cause for one in stage.client for cause in one.causes]
             for stage in summary.stages if stage.client_bound}  # fmt: skip
    if len(found) <= STAGES_EACH:
        for stage, causes in found.items():
            why = "; ".join(map(str, causes))
            yield Told("bad", f"stage {stage} is client-bound, its times are partly the rig's own: {why}", "rig")
        return
    every = [(stage, cause) for stage, causes in found.items() for cause in causes]
    stage, worst = max(every, key=lambda one: one[1].value / one[1].limit)
    said = f"stages {', '.join(found)} are client-bound, their times are partly the rig's own"
    yield Told("bad", f"{said}; furthest over a limit: {stage}, {worst}", "rig")


def _ended(summary: Summary) -> Iterator[Told]:
    counts, status = summary.counts[0], summary.identity.status
    if status is not None and status not in WHOLE:
        yield Told("look", f"the run did not end by itself: {status}")
    budget = sum(row.n for arm in summary.arms for row in arm.outcomes if row.reason == "budget"
                 and row.outcome == "not_run")  # fmt: skip
    if budget:
        yield Told("look", f"the budget stopped the run: {number(budget)} trials were not sent")
    if counts.failed:
        yield Told("look", f"{number(counts.failed)} of {number(counts.planned)} trials failed", "tables")
    if not counts.balanced:
        yield Told("bad", f"the balance of trials does not come out: {counts.missing} have no record")


def _sentences(summary: Summary) -> Sequence[str]:
    assert summary.sweep is not None
    return [f"{name}: {found}" for name, found in sweep.knee(summary.sweep).rows]


def _load(summary: Summary) -> str:
    opened = [stage.open_loop for stage in summary.stages if stage.open_loop is not None]
    if opened:
        rates = ", ".join(f"{loop.rate_per_s:g}" for loop in opened)
        return f"Open loop, {opened[0].arrivals} arrivals at {rates} a second."
    levels = ", ".join(str(stage.concurrency) for stage in summary.stages if stage.concurrency is not None)
    return f"Closed loop, {levels} in flight." if levels else ""


def _when(summary: Summary) -> str:
    began, ended = summary.identity.began_at, summary.identity.ended_at
    if began is None:
        return ""
    first = datetime.fromisoformat(began)
    took = ""
    if ended is not None:
        seconds = (datetime.fromisoformat(ended) - first).total_seconds()
        took = f", {seconds / 60:.1f} min" if seconds >= 120 else f", {seconds:.0f} s"
    return f"{first:%Y-%m-%d %H:%M:%S} {first.tzname() or ''}{took}."


def _counted(n: int, noun: str) -> str:
    return f"{number(n)} {noun}{'' if n == 1 else 's'}"
