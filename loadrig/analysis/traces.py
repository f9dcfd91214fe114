"""Which trials a report tells in full, which it lists, and the line of records.jsonl on which each stands.

Told in full: the slowest timed successes by service latency and the dearest asked trials, of the run and of each arm
and model, and the first that failed, or went unanswered, for each reason. Listed: all of them, and of the rest every
one where there are few, else each k-th in the order of the file, so that a report of a long run stays readable.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from heapq import nlargest

from loadrig.analysis.failures import phase_of
from loadrig.analysis.selection import asked, by_arm_and_model, timed
from loadrig.log import RunFolder
from loadrig.stored import Stored
from loadrig.words.record import Record, succeeded

MOST, REASONS, LISTED = 5, 12, 1500
Key = tuple[str, int]  # trial and try


@dataclass(frozen=True, slots=True)
class Shown:
    """A trial that is told in full, and why."""

    record: Record
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """Trials in a line each: `records` of `of` on file that were sent; each `every`-th but for those told in full."""

    records: tuple[Record, ...]
    of: int
    every: int


def shown(run: RunFolder) -> tuple[Shown, ...]:
    """The slowest first, then the dearest, then what did not succeed; each trial once, with all its reasons."""
    whys: dict[Key, list[str]] = {}
    records: dict[Key, Record] = {}
    for record, why in (*_slowest(run), *_dearest(run), *_unsuccessful(run)):
        records[record.trial, record.try_no] = record
        whys.setdefault((record.trial, record.try_no), []).append(why)
    return tuple(Shown(record, tuple(whys[key])) for key, record in records.items())


def listed(run: RunFolder, told: Iterable[Shown] = (), most: int = LISTED) -> Listed:
    """Those told in full and as many of the others, evenly, as make about `most`."""
    sent = [record for record in run.records if record.outcome != "not_run"]
    every = max(1, -(-len(sent) // most))
    full = {(one.record.trial, one.record.try_no) for one in told}
    kept = [
        record for place, record in enumerate(sent) if place % every == 0 or (record.trial, record.try_no) in full
    ]  # fmt: skip
    return Listed(tuple(kept), len(sent), every)


def lines_of(run: RunFolder, wanted: Iterable[Record]) -> dict[Key, int]:
    """The line of each record in records.jsonl, of which the first is the schema's; of a run that was not read from a
    file there are none."""
    begins = sorted(record.at for record in (*run.records, *run.superseded) if isinstance(record, Stored))
    return {
        (record.trial, record.try_no): bisect_left(begins, record.at) + 2
        for record in wanted if isinstance(record, Stored)
    }  # fmt: skip


def _slowest(run: RunFolder) -> Iterator[tuple[Record, str]]:
    found = [record for record in timed(run) if succeeded(record) and record.service_ns is not None]
    yield from _most(run, found, "slowest", lambda record: record.service_ns or 0)


def _dearest(run: RunFolder) -> Iterator[tuple[Record, str]]:
    found = [record for record in asked(run) if record.cost is not None and Decimal(record.cost)]
    yield from _most(run, found, "dearest", lambda record: Decimal(record.cost or 0))


def _most(
    run: RunFolder, found: Sequence[Record], word: str, of: Callable[[Record], int | Decimal]
) -> Iterator[tuple[Record, str]]:
    for place, record in enumerate(nlargest(MOST, found, key=of), start=1):
        yield record, f"{word} {place} of {len(found)}"
    groups = by_arm_and_model(run, (((record.arm, record.model), record) for record in found))
    if len(groups) > 1:
        for arm, model, records in groups:
            yield max(records, key=of), f"{word} of the {len(records)} of {arm} ({model})"


def _unsuccessful(run: RunFolder) -> Iterator[tuple[Record, str]]:
    first: dict[tuple[str, str | None, str | None], Record] = {}
    counts: dict[tuple[str, str | None, str | None], int] = {}
    for record in asked(run):
        if record.outcome in ("failed", "unanswered"):
            key = (record.outcome, record.reason, phase_of(record))
            first.setdefault(key, record)
            counts[key] = counts.get(key, 0) + 1
    for (outcome, reason, phase), record in list(first.items())[:REASONS]:
        which = f"{reason} ({phase})" if phase else str(reason)
        yield record, f"first of {counts[outcome, reason, phase]} {outcome}: {which}"
