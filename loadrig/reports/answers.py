"""answers.csv: every asked trial on a row, with its marks, for reading and sorting. It is no grading sheet: it tells
arm and model (`loadrig grade RUN export` makes one that does not).

A text that a sheet would take for a formula gets an apostrophe in front (the records keep it as it was); numbers stay
numbers. Not available is an empty cell.
"""

from __future__ import annotations

import csv
from pathlib import Path

from loadrig.analysis.accuracy import prechecked
from loadrig.analysis.retrieval import credited
from loadrig.analysis.selection import planned
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.words.record import Record
from loadrig.words.score import Score

FORMULA = ("=", "+", "-", "@", "\t", "\r")
HEADERS = (
    "trial", "question_id", "category", "question", "arm", "model", "reply_model", "repetition", "stage", "phase",
    "outcome", "reason", "answer", "reference", "gold", "retrieved", "precheck", "tokens_in", "tokens_out", "cost",
    "currency", "ttft_ms", "ttfat_ms", "service_ms", "scheduled_ms", "client_bound", "turns", "tool_calls", "stop",
    "simulated", "graded_by", "correct", "stale", "invented", "score", "note",
)  # fmt: skip


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes answers.csv into the run's folder."""
    path, bound = run.path / "answers.csv", {stage.stage: stage.client_bound for stage in summary.stages}
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow(HEADERS)
        for record in planned(run):
            sheet.writerow(map(safe, _row(run, record, summary=summary, bound=bound.get(record.stage))))
    return path


def safe(cell: str | float | None) -> str | float | None:
    """The cell as a sheet shows it: text never a formula, a number itself, None empty."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _row(run: RunFolder, record: Record, *, summary: Summary, bound: bool | None) -> tuple[str | float | None, ...]:
    question = run.questions.get(record.question)
    passed = prechecked(run, record)
    score = run.grading.scores.get((record.trial, record.try_no)) if run.grading else None
    whole = ("tokens_in", "tokens_out", "turns", "tool_calls")
    counts = {name: None if (n := measure(name).value(record)) is None else int(n) for name in whole}
    times_ms = [None if ns is None else round(ns / 1e6, 3) for ns in _times_ns(record)]
    return (
        record.trial, record.question, record.category, question.question if question else None, record.arm,
        record.model, record.reply_model, record.repetition, record.stage, record.phase, record.outcome,
        record.reason, record.answer, question.reference if question else None,
        " ".join(question.gold) if question else None, " ".join(sorted(credited(record))),
        None if passed is None else int(passed), counts["tokens_in"], counts["tokens_out"],
        record.cost, record.currency or summary.currency, *times_ms,
        None if bound is None else int(bound),
        counts["turns"], counts["tool_calls"],
        record.turns[-1].stop_reason if record.turns else None, "simulated" if summary.simulated else None,
        *_marks(score),
    )  # fmt: skip


def _marks(score: Score | None) -> tuple[str | float | None, ...]:
    if score is None:
        return (None,) * 6
    flags = (None if mark is None else int(mark) for mark in (score.correct, score.stale, score.invented))
    return (score.grader, *flags, score.score, score.note or None)


def _times_ns(record: Record) -> tuple[int | None, ...]:
    return record.trial_ttft_ns, record.ttfat_ns, record.service_ns, record.scheduled_ns
