"""Where the time of a trial goes: the parts of the service latency of timed successes, which sum to it.

    service = searching + waiting to search + to first tokens + replies + tools + failed attempts + back-off + rest

Of every turn, the attempt that gave the reply is split at its first token; earlier attempts are failed ones, whole.
Back-off is the waiting before attempts: the pause after a failure and the wait for leave under a model's own limits.
The rest is what nobody else had: building prompts, reading replies, the turns of the worker's loop. In open loop the
dispatch delay comes before all of it: scheduled latency = sent late + service.

What the first turn waited for leave lies before the trial's begin, and its record does not tell it from a pause: where
the parts would be more than the whole, it is taken from back-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from loadrig.analysis.selection import arm_names, grouped, stage_names, timed
from loadrig.log import RunFolder
from loadrig.words.record import Record, Turn, succeeded

PartName = Literal[
    "searching", "waiting to search", "to first tokens", "replies", "tools", "failed attempts", "back-off", "rest",
]  # fmt: skip
PARTS: tuple[PartName, ...] = get_args(PartName)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the service latency: its sum over the trials, and that / n, rounded down (ns)."""

    name: PartName
    total_ns: int
    mean_ns: int


@dataclass(frozen=True, slots=True)
class ArmTimes:
    """Of `n` timed successes of one arm and model in a stage: the parts, which sum to `service_ns`, a sum over the
    trials. `sent_late_ns`: the sum of dispatch delays; None in closed loop."""

    arm: str
    model: str
    stage: str
    n: int
    service_ns: int
    sent_late_ns: int | None
    parts: tuple[Part, ...]


def times(run: RunFolder) -> tuple[ArmTimes, ...]:
    """Every arm, model and stage with a timed success, stages in the order they ran, arms in the plan's."""
    arms = {name: place for place, name in enumerate(arm_names(run))}
    stages = {name: place for place, name in enumerate(stage_names(run))}
    groups = grouped(((r.arm, r.model, r.stage), r) for r in timed(run) if succeeded(r) and r.service_ns is not None)
    keys = sorted(groups, key=lambda key: (stages[key[2]], arms[key[0]], key[1]))
    return tuple(_of(key, groups[key]) for key in keys)


def _of(key: tuple[str, str, str], records: Sequence[Record]) -> ArmTimes:
    n = len(records)
    sums = [sum(column) for column in zip(*map(parts, records), strict=True)]
    late = [record.dispatch_delay_ns for record in records if record.dispatch_delay_ns is not None]
    return ArmTimes(
        *key,
        n=n,
        service_ns=sum(record.service_ns or 0 for record in records),
        sent_late_ns=sum(late) if late else None,
        parts=tuple(Part(name, total, total // n) for name, total in zip(PARTS, sums, strict=True)),
    )


def parts(record: Record) -> tuple[int, ...]:
    """Nanoseconds of a trial in the order of `PARTS`; their sum is its service latency."""
    whole = record.retrieval_ns or 0
    queue = min(record.retrieval_queue_ns or 0, whole)
    turns = [_of_turn(turn) for turn in record.turns]
    first, writing, failed, paused = (sum(column) for column in zip(*turns, (0, 0, 0, 0), strict=True))
    if record.turns:
        paused -= record.turns[0].attempts[0].backoff_ns if record.turns[0].attempts else 0
    known = (whole - queue, queue, first, writing, record.tool_ns or 0, failed)
    left = (record.service_ns or 0) - sum(known) - paused
    too_much = min(paused, max(0, -left))
    return (*known, paused - too_much, left + too_much)


def _of_turn(turn: Turn) -> tuple[int, int, int, int]:
    """To the first token, from it to the end, failed attempts, waiting before attempts."""
    took = [attempt.end_ns - attempt.begin_ns for attempt in turn.attempts]
    paused = sum(attempt.backoff_ns for attempt in turn.attempts)
    if turn.service_ns is None or not took:
        return 0, 0, sum(took), paused
    *failed, last = took
    first = last if turn.ttft_ns is None else turn.ttft_ns
    return first, last - first, sum(failed), paused
