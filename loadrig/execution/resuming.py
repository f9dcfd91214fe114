"""What a taken-up run still has to ask, and what its first part may have spent unrecorded. Pure.

Asked again: trials without a record, not run, lost with their worker, or cancelled when the run was stopped; failed
ones only when told to. What was begun before counts as a try: the new one gets the next number. A run whose driver was
killed has records of none of its last requests: the N first trials without a record are taken for sent and lost; in
open loop those that were due until a second after the last end on file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.record import Failure, Record
from loadrig.words.trial import Stage, Trial, unasked

ASKED_AGAIN = {"lost", "cancelled"}
AFTER_NS = 1_000_000_000  # records reach the file a few exchanges later
MAY_CHANGE = ("load.workers", "load.cpus_per_worker", "limits", "retry", "budget", "allowed_failure_share", "timezone")
KILLED = Failure("lost", "the driver was killed: this trial may have been sent")


@dataclass(frozen=True, slots=True)
class TakenUp:
    """`trials` of the run's `stages` are to be asked, in plan order; `lost` are records to write first; `earlier` is
    all that was paid."""

    manifest: dict[str, Any]
    stages: tuple[Stage, ...]
    trials: tuple[Trial, ...]
    lost: tuple[Record, ...]
    earlier: tuple[Record, ...]


def take_up(run: RunFolder, *, retry_failed: bool) -> TakenUp:
    """What is missing in a run. Raises `InputError` when nothing is."""
    lost = tuple(_lost(run)) if run.manifest["status"] == "running" else ()
    records = {record.trial: record for record in (*run.records, *lost)}
    trials = tuple(
        replace(trial, try_no=1 if record is None else record.try_no + 1)
        for trial in run.trials
        if (record := records.get(trial.id)) is None or _is_missing(record, retry_failed=retry_failed)
    )
    if not trials:
        hint = "--retry failed asks the failed trials again"
        raise InputError("nothing is missing", path=run.path, remedy=hint)
    stages = msgspec.convert(run.manifest["stages"], tuple[Stage, ...])
    return TakenUp(dict(run.manifest), stages, trials, lost, (*run.records, *run.superseded))


def check_same_plan(run: RunFolder, plan: Mapping[str, Any], corpus_sha256: str) -> None:
    """Raises `InputError` when plan or corpus are not those the run was begun with; how it is run may change."""
    now, then = (_flat(msgspec.json.decode(msgspec.json.encode(one))) for one in (plan, run.manifest["plan"]))
    changed = sorted(key for key in {*now, *then} if now.get(key) != then.get(key) and not key.startswith(MAY_CHANGE))
    if changed:
        raise InputError(
            f"the plan differs from the one this run was begun with: {', '.join(changed)}",
            path=run.path,
            remedy=f"use the plan and flags of: {run.manifest.get('command_line')}",
        )
    if corpus_sha256 != run.manifest["corpus"]["sha256"]:
        problem = "the corpus differs from the one this run was begun with"
        raise InputError(problem, path=run.path, remedy="restore its texts, or begin a new run")


def _lost(run: RunFolder) -> Iterator[Record]:
    """Records for what was in flight when the driver died."""
    recorded = {record.trial for record in run.records}
    open_trials = [trial for trial in run.trials if trial.id not in recorded]
    if not open_trials:
        return
    stage = next(stage for stage in run.manifest["stages"] if stage["name"] == open_trials[0].stage)
    mine = [trial for trial in open_trials if trial.stage == stage["name"]]
    if stage["concurrency"] is None:
        until_ns = _last_end_ns(run, stage["name"]) + AFTER_NS
        mine = [trial for trial in mine if (trial.due_ns or 0) <= until_ns]
    begun = mine[: stage["concurrency"] or stage["open_loop"]["max_in_flight"]]
    yield from (unasked(trial, run.manifest["run"], "failed", "lost", failure=KILLED) for trial in begun)


def _last_end_ns(run: RunFolder, stage: str) -> int:
    """Of the trials of an open-loop stage, from its begin."""
    due = {trial.id: trial.due_ns or 0 for trial in run.trials}
    return max((due[r.trial] + (r.scheduled_ns or 0) for r in run.records if r.stage == stage), default=0)


def _is_missing(record: Record, *, retry_failed: bool) -> bool:
    if record.outcome == "failed":
        return retry_failed or record.reason in ASKED_AGAIN
    return record.outcome == "not_run"


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """A JSON value as dotted keys: `{"load": {"warmup": 8}}` is `{"load.warmup": 8}`."""
    items: Sequence[tuple[Any, Any]]
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if not items:
        return {name: value}
    return {key: leaf for part, inner in items for key, leaf in _flat(inner, f"{name}.{part}".strip(".")).items()}
