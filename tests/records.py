"""Literal records and run folders for tests of the read side: every number is set by the test that checks it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from loadrig import log
from loadrig.words.corpus import Question
from loadrig.words.record import Attempt, Failure, Record, Turn, Usage
from loadrig.words.trial import Trial

S = 1_000_000_000
MS = 1_000_000
DAY = "2026-11-20T12:00:00.000000Z"
MANIFEST: dict[str, Any] = {
    "run": "r1",
    "plan": {"name": "night", "timezone": "UTC"},
    "simulated": False,
    "status": "complete",
    "currency": "USD",
    "stages": [{"name": "c2", "concurrency": 2}],
}


def record(trial: str, **given: Any) -> Record:
    """A measured, answered record of arm `rag`, question `q1`, that took one second; `given` overrides."""
    fields: dict[str, Any] = {
        "run": "r1", "trial": trial, "try_no": 1, "arm": "rag", "model": "m", "question": "q1", "category": "fact",
        "repetition": 1, "stage": "c2", "phase": "measured", "outcome": "answered", "answer": "yes",
        "service_ns": S, "trial_ttft_ns": 100 * MS, "ttfat_ns": 200 * MS, "began_at": DAY, "worker": "w1",
    }  # fmt: skip
    return Record(**{**fields, **given})


def failed(trial: str, reason: str = "timeout", **given: Any) -> Record:
    """A failed record: no answer, no first token, 30 s spent."""
    none = {"answer": "", "trial_ttft_ns": None, "ttfat_ns": None, "service_ns": 30 * S}
    return record(trial, **{**none, "outcome": "failed", "reason": reason, "failure": Failure(reason, "x"), **given})


def attempt(**given: Any) -> Attempt:
    """An attempt that ended well, unless `given` says otherwise."""
    return Attempt(**{"began_at": DAY, "begin_ns": 0, "end_ns": S, "http_status": 200, **given})


def turn(cost: str | None = None, **given: Any) -> Turn:
    """An answered turn of one attempt, which cost `cost` and whose usage is `usage`."""
    usage: Usage | None = given.get("usage")
    attempts = given.pop("attempts", (attempt(cost=cost, usage=usage),))
    return Turn(**{"outcome": "answered", "reason": None, "attempts": attempts, "cost": cost, **given})


def question(identity: str = "q1", **given: Any) -> Question:
    """A question whose answer must contain `yes`."""
    fields = {"category": "fact", "question": "Is it?", "reference": "Yes.", "must_contain": ("yes",)}
    return Question(**{"id": identity, **fields, **given})


def write_run(folder: Path, records: Iterable[Record], **given: Any) -> Path:
    """Writes a run's folder. `questions` and `prompts` (hash -> bytes) may be given; the rest goes to the manifest."""
    records = list(records)
    questions = given.pop("questions", [question(name) for name in sorted({r.question for r in records})])
    prompts = given.pop("prompts", {})
    trials = given.pop("trials", None)
    with log.RunLog(folder) as written:
        written.append(records, prompts)
    if trials is None:
        trials = {r.trial: trial_of(r, position) for position, r in enumerate(records)}.values()
    log.write_lines(folder / log.PLAN, trials)
    log.write_lines(folder / log.QUESTIONS, questions)
    log.write_json(folder / log.MANIFEST, {**MANIFEST, **given})
    return folder


def read_run(folder: Path, records: Iterable[Record], **given: Any) -> log.RunFolder:
    """A run as read back from the folder that `write_run` wrote."""
    return log.read_run(write_run(folder, records, **given))


def trial_of(r: Record, position: int = 0) -> Trial:
    """The planned trial that a record answers: a tail trial was planned as measured."""
    phase = "measured" if r.phase == "tail" else r.phase
    return Trial(
        r.trial, position, r.arm, r.model, r.question, r.category, r.repetition, r.stage, phase
    )  # fmt: skip


def plain(value: object) -> Any:
    """A frozen summary as plain JSON values, the way a reader of summary.json sees it."""
    return msgspec.json.decode(msgspec.json.encode(value))
