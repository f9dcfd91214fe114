"""Why trials failed: each arm's reasons, how often, and what was commonly said of them.

A reason's detail is what the rig or the target said of one failure; details differ, so the commonest stands for all
and says how many it speaks for. Warm-up is counted apart. Tries that were asked again are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from loadrig.analysis.selection import arm_names, grouped
from loadrig.log import RunFolder
from loadrig.words.record import Record

DETAIL = 400


@dataclass(frozen=True, slots=True)
class FailureCount:
    """`n` trials of an arm, in all stages, that failed for one reason; `phase`: where, when it is known.

    `kind`: `plan` (measured and tail) or `warmup`. `detail_n` of them said `detail`: one line, cut at 400 characters.
    """

    kind: str
    arm: str
    model: str
    reason: str | None
    phase: str | None
    n: int
    detail: str
    detail_n: int


def failure_counts(run: RunFolder) -> tuple[FailureCount, ...]:
    """By kind and arm, the commonest reason first."""
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    failed = [record for record in run.records if record.outcome == "failed"]
    rows = [
        FailureCount(*key, len(details), *Counter(details).most_common(1)[0])
        for key, details in grouped((_key(record), _detail(record)) for record in failed).items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.kind, order[row.arm], row.model, -row.n)))


def phase_of(record: Record) -> str | None:
    """Where a trial failed, when that says more than its reason."""
    phase = record.failure.phase if record.failure else None
    return None if phase == record.reason else phase


def _key(record: Record) -> tuple[str, str, str, str | None, str | None]:
    kind = "warmup" if record.phase == "warmup" else "plan"
    return kind, record.arm, record.model, record.reason, phase_of(record)


def _detail(record: Record) -> str:
    return " ".join((record.failure.detail if record.failure else "").split())[:DETAIL]
