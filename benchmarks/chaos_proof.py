"""What must hold after a chaos run, from three witnesses: the run's folder, the driver's witness, the target. Pure but
for reading files.

    planned = answered + unanswered + failed + not_run      one counting record a trial, of every session that ended
    doubled   (trial, try) twice on file, or one request twice at the target
    unkept    acknowledged to a worker, and not on file
    untold    answers that the target finished of a (trial, try) that is neither on file with what became of it, nor
              on file as lost or cancelled: lost silently
    gone      answers that the target finished of a (trial, try) that is on file as lost or cancelled: they came too
              late, or died with a process; at most what that had in hand
    moved     records with a time that cannot be, be it a duration or an instant: an answer that began before it was
              asked for, or ended a while after or before the target had finished it; records of a worker out of order
    unprovoked  workers given up that no fault had struck
    hours     by so much the wall clock told by the records was set, at most, while their clock went on
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from chaos_target import Target

from loadrig.execution.resuming import take_up
from loadrig.log import read_leases, read_run
from loadrig.words.errors import InputError

UNHEARD = ("lost", "cancelled")
LONGEST_NS = 60_000_000_000  # of anything that is measured in these runs
QUICKEST_NS = 39_000_000  # answer of the target, less what a timer may be early
STOPPED_NS = 4_000_000_000  # the longest that a worker stands still and lives


@dataclass(frozen=True)
class Proof:
    """The figures of a run. `problems` are promises broken, in words."""

    planned: int
    outcomes: dict[str, int]
    lost: int
    doubled: int
    gone: int
    untold: int
    moved: int
    unprovoked: int
    hours: float
    noticed_s: tuple[tuple[str, float], ...]
    problems: tuple[str, ...]


def is_complete(folder: Path, *, retry_failed: bool) -> bool:
    """Nothing would be asked again."""
    try:
        take_up(read_run(folder), read_leases(folder), retry_failed=retry_failed)
    except InputError:
        return True
    return False


def sum_holds(folder: Path) -> str | None:
    """After a session that ended by itself: every planned trial has a record. Else what is wrong."""
    run = read_run(folder)
    recorded = {record.trial for record in run.records}
    missing = [trial.id for trial in run.trials if trial.id not in recorded]
    return f"{len(missing)} of {len(run.trials)} trials without a record after an orderly end" if missing else None


def proved(folder: Path, witness: Path, target: Target, struck: dict[int, tuple[str, int]]) -> Proof:
    """Holds the run's folder against what driver and target noted."""
    run = read_run(folder)
    lines = [json.loads(line) for line in (folder / "records.jsonl").read_bytes().splitlines()[1:]]
    on_file = Counter((line["trial"], line["try"]) for line in lines)
    reasons = {(line["trial"], line["try"]): line["reason"] for line in lines if line["outcome"] != "not_run"}
    noted = [json.loads(line) for line in witness.read_bytes().splitlines()]
    acknowledged = {(trial, no) for note in noted for trial, no in note.get("acknowledged", ())}
    finished = {_trial_of(name) for name in target.finished}
    outcomes = Counter(record.outcome for record in run.records)
    twice = [key for key, count in on_file.items() if count > 1 and key in reasons]
    asked_twice = [name for name, count in target.begun.items() if count > 1]
    unkept = acknowledged - set(on_file)
    gone = {key for key in finished if reasons.get(key) in UNHEARD}
    untold, leased = finished - set(reasons), _leased(folder)
    given_up = {note["given_up"]: note["at_ns"] for note in noted if "given_up" in note}
    noticed = [(why, (given_up[pid] - at_ns) / 1e9) for pid, (why, at_ns) in struck.items() if pid in given_up]
    moved = [*_moved(lines, target)]
    problems = [
        *([f"planned {len(run.trials)}, on file {sum(outcomes.values())}"] * (len(run.trials) != len(run.records))),
        *([f"{len(twice)} (trial, try) twice on file: {twice[:3]}"] * bool(twice)),
        *([f"{len(asked_twice)} requests twice at the target: {asked_twice[:3]}"] * bool(asked_twice)),
        *([f"{len(unkept)} acknowledged and not on file"] * bool(unkept)),
        *([f"{len(untold)} finished by the target and lost silently: {sorted(untold)[:3]}"] * bool(untold)),
        *([f"{len(moved)} with a time that cannot be: {moved[:3]}"] * bool(moved)),
        *([f"{len(finished - leased)} sent before they stood among the leases"] * bool(finished - leased)),
    ]
    return Proof(
        planned=len(run.trials),
        outcomes=dict(outcomes),
        lost=sum(reason == "lost" for reason in reasons.values()),
        doubled=len(twice) + len(asked_twice),
        gone=len(gone),
        untold=len(untold),
        moved=len(moved),
        unprovoked=len(given_up.keys() - struck.keys()),
        hours=_hours(lines),
        noticed_s=tuple(noticed),
        problems=tuple(problems),
    )


def _leased(folder: Path) -> set[tuple[str, int]]:
    """All that was ever given to a worker."""
    rows = [json.loads(line) for line in (folder / "leases.jsonl").read_bytes().splitlines()]
    return {(trial, no) for row in rows for trial, no in row.get("given", ())}


def _moved(lines: list[dict[str, Any]], target: Target) -> Iterator[tuple[str, int, str]]:
    """Trial, try and what is wrong. The clock of all processes of one machine is one."""
    spans = {_trial_of(name): span for name, span in target.spans.items()}
    latest_ns: dict[str, int] = {}
    for line in lines:
        key, begin_ns, end_ns = (line["trial"], line["try"]), line.get("begin_ns"), line.get("end_ns")
        if begin_ns is None or end_ns is None:
            continue
        for name, time_ns in _times(line):
            before_ns = LONGEST_NS if name == "due_ns" else 0
            if not (0 <= time_ns <= LONGEST_NS or begin_ns - before_ns <= time_ns <= end_ns):
                yield (*key, f"{name} = {time_ns}, of a trial from {begin_ns} to {end_ns}")
        if line["outcome"] == "answered" and key in spans:
            asked_ns, finished_ns = spans[key]
            if begin_ns > asked_ns or not asked_ns + QUICKEST_NS <= end_ns <= finished_ns + STOPPED_NS:
                yield (*key, f"from {begin_ns - asked_ns} to {end_ns - finished_ns} ns of the target's span")
        if end_ns < latest_ns.get(line["worker"], 0) - STOPPED_NS:
            yield (*key, "out of order")
        latest_ns[line["worker"]] = end_ns


def _times(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Whatever is told in nanoseconds, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _times(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _times(inner)
    elif name.endswith("_ns") and value is not None:
        yield name, value


def _hours(lines: list[dict[str, Any]]) -> float:
    offs = [
        datetime.fromisoformat(line["began_at"]).timestamp() - line["begin_ns"] / 1e9
        for line in lines
        if line.get("began_at") and line.get("begin_ns")
    ]
    return (max(offs) - min(offs)) / 3600 if offs else 0.0


def _trial_of(attempt: str) -> tuple[str, int]:
    """`t1.1.1` is of trial t1 and try 1, `t1-2.1.1` of its second try."""
    trial, _, number = attempt.split(".", maxsplit=1)[0].partition("-")
    return trial, int(number or 1)
