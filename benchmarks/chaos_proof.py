"""What must hold after a chaos run, from three witnesses: the run's folder, the driver's witness, the target. Pure but
for reading files.

    planned = answered + unanswered + failed + not_run      one counting record a trial, of every session that ended
    doubled   (trial, try) twice on file, or one request twice at the target
    unkept    acknowledged to a worker, and not on file
    untold    answers that the target finished of a (trial, try) that is neither on file with what became of it, nor
              on file as lost or cancelled: lost silently
    gone      answers that the target finished of a (trial, try) that is on file as lost or cancelled: they came too
              late, or died with a process; at most what that had in hand
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from chaos_target import Target

from loadrig.execution.resuming import take_up
from loadrig.log import read_leases, read_run
from loadrig.words.errors import InputError

UNHEARD = ("lost", "cancelled")


@dataclass(frozen=True)
class Proof:
    """The figures of a run. `problems` are promises broken, in words."""

    planned: int
    outcomes: dict[str, int]
    lost: int
    doubled: int
    gone: int
    untold: int
    noticed_s: tuple[float, ...]
    problems: tuple[str, ...]


def is_complete(folder: Path) -> bool:
    """Nothing would be asked again."""
    try:
        take_up(read_run(folder), read_leases(folder), retry_failed=False)
    except InputError:
        return True
    return False


def sum_holds(folder: Path) -> str | None:
    """After a session that ended by itself: every planned trial has a record. Else what is wrong."""
    run = read_run(folder)
    recorded = {record.trial for record in run.records}
    missing = [trial.id for trial in run.trials if trial.id not in recorded]
    return f"{len(missing)} of {len(run.trials)} trials without a record after an orderly end" if missing else None


def proved(folder: Path, witness: Path, target: Target, struck: dict[int, int]) -> Proof:
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
    noticed = [(given_up[pid] - at_ns) / 1e9 for pid, at_ns in struck.items() if pid in given_up]
    problems = [
        *([f"planned {len(run.trials)}, on file {sum(outcomes.values())}"] * (len(run.trials) != len(run.records))),
        *([f"{len(twice)} (trial, try) twice on file: {twice[:3]}"] * bool(twice)),
        *([f"{len(asked_twice)} requests twice at the target: {asked_twice[:3]}"] * bool(asked_twice)),
        *([f"{len(unkept)} acknowledged and not on file"] * bool(unkept)),
        *([f"{len(untold)} finished by the target and lost silently: {sorted(untold)[:3]}"] * bool(untold)),
        *([f"{len(finished - leased)} sent before they stood among the leases"] * bool(finished - leased)),
    ]
    return Proof(
        planned=len(run.trials),
        outcomes=dict(outcomes),
        lost=sum(reason == "lost" for reason in reasons.values()),
        doubled=len(twice) + len(asked_twice),
        gone=len(gone),
        untold=len(untold),
        noticed_s=tuple(noticed),
        problems=tuple(problems),
    )


def _leased(folder: Path) -> set[tuple[str, int]]:
    """All that was ever given to a worker."""
    rows = [json.loads(line) for line in (folder / "leases.jsonl").read_bytes().splitlines()]
    return {(trial, no) for row in rows for trial, no in row.get("given", ())}


def _trial_of(attempt: str) -> tuple[str, int]:
    """`t1.1.1` is of trial t1 and try 1, `t1-2.1.1` of its second try."""
    trial, _, number = attempt.split(".", maxsplit=1)[0].partition("-")
    return trial, int(number or 1)
