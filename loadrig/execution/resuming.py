"""What a taken-up run still has to ask. Pure.

Asked again: trials without a record, not run, lost with their worker, or cancelled when the run was stopped; failed
ones only when told to. What was begun before counts as a try: the new one gets the next number.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec

from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.record import Record
from loadrig.words.trial import Trial

ASKED_AGAIN = {"lost", "cancelled"}


def missing(run: RunFolder, *, retry_failed: bool) -> tuple[Trial, ...]:
    """The trials to ask, in plan order, each with the number of its next try."""
    records = {record.trial: record for record in run.records}
    return tuple(
        replace(trial, try_no=1 if record is None else record.try_no + 1)
        for trial in run.trials
        if (record := records.get(trial.id)) is None or _is_missing(record, retry_failed=retry_failed)
    )


def _is_missing(record: Record, *, retry_failed: bool) -> bool:
    if record.outcome == "failed":
        return retry_failed or record.reason in ASKED_AGAIN
    return record.outcome == "not_run"


def check_same_plan(run: RunFolder, plan: object, corpus_sha256: str) -> None:
    """Raises `InputError` when the plan or the corpus is not the one the run was begun with."""
    for name, now, then in (
        ("plan", msgspec.json.decode(msgspec.json.encode(plan)), run.manifest["plan"]),
        ("corpus", corpus_sha256, run.manifest["corpus"]["sha256"]),
    ):
        if now != then:
            raise InputError(
                f"the {name} differs from the one this run was begun with",
                path=run.path,
                remedy=f"restore the {name} (and the flags of the first call), or begin a new run",
            )
