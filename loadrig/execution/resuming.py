"""What a taken-up run still has to ask, and what its first part may have spent unrecorded. Pure.

Asked again: trials without a record, not run, lost with their worker, or cancelled when the run was stopped; failed
ones only when told to. What was begun before counts as a try: the new one gets the next number. A run that was killed,
or whose disk was full, has no record of its last requests: what was given to a worker and has none is taken for sent
and lost, so that no try of a trial is ever sent twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.record import Failure, Record
from loadrig.words.trial import Stage, Trial, unasked

ASKED_AGAIN = {"lost", "cancelled"}
MAY_CHANGE = (
    "load.workers", "load.cpus_per_worker", "load.fleet", "limits", "retry", "budget", "allowed_failure_share",
    "timezone", "nightly",
)  # fmt: skip
UNTOLD = Failure("lost", "the run ended before this trial's record came: it may have been sent")


@dataclass(frozen=True, slots=True)
class TakenUp:
    """`trials` of the run's `stages` are to be asked, in plan order; `lost` are records to write first; `earlier` is
    all that was paid."""

    manifest: dict[str, Any]
    stages: tuple[Stage, ...]
    trials: tuple[Trial, ...]
    lost: tuple[Record, ...]
    earlier: tuple[Record, ...]


def take_up(run: RunFolder, leases: Collection[tuple[str, int]], *, retry_failed: bool) -> TakenUp:
    """What is missing in a run, of which `leases` says what was given to a worker: trial and try.

    Raises `InputError` when nothing is.
    """
    lost = tuple(_lost(run, leases))
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


def changed_keys(run: RunFolder, plan: Mapping[str, Any]) -> list[str]:
    """Settings that are not those the run was begun with; how it is run may change."""
    now, then = (_flat(msgspec.json.decode(msgspec.json.encode(one))) for one in (plan, run.manifest["plan"]))
    return sorted(key for key in {*now, *then} if now.get(key) != then.get(key) and not key.startswith(MAY_CHANGE))


def check_same_plan(run: RunFolder, plan: Mapping[str, Any], corpus_sha256: str) -> None:
    """Raises `InputError` when plan or corpus are not those the run was begun with; how it is run may change."""
    if changed := changed_keys(run, plan):
        raise InputError(
            f"the plan differs from the one this run was begun with: {', '.join(changed)}",
            path=run.path,
            remedy=f"use the plan and flags of: {run.manifest.get('command_line')}",
        )
    if corpus_sha256 != run.manifest["corpus"]["sha256"]:
        problem = "the corpus differs from the one this run was begun with"
        raise InputError(problem, path=run.path, remedy="restore its texts, or begin a new run")


def _lost(run: RunFolder, leases: Collection[tuple[str, int]]) -> Iterator[Record]:
    """Records for what may have been sent and is not on file."""
    recorded = {(record.trial, record.try_no) for record in (*run.records, *run.superseded)}
    untold = {trial: try_no for trial, try_no in sorted(leases) if (trial, try_no) not in recorded}
    for trial in run.trials:
        if trial.id in untold:
            again = replace(trial, try_no=untold[trial.id])
            yield unasked(again, run.manifest["run"], "failed", "lost", failure=UNTOLD)


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
    if not items:  # an empty list is as good as none: a plan of before may not have had it
        return {} if value == [] else {name: value}
    return {key: leaf for part, inner in items for key, leaf in _flat(inner, f"{name}.{part}".strip(".")).items()}
