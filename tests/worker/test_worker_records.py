"""A worker's records: all of them, in bounded batches, made without holding the loop."""

from __future__ import annotations

import asyncio
from pathlib import Path

from loadrig.selftest.null import Schedule, null_target
from loadrig.selftest.rig import MODEL, rig
from loadrig.wire.turn import resolve
from loadrig.words.record import Record
from loadrig.words.settings import ModelSettings
from loadrig.words.trial import Trial
from loadrig.worker.messages import Order
from loadrig.worker.outbox import MOST_RECORDS


def trials(count: int) -> tuple[Trial, ...]:
    return tuple(Trial(f"t{n}", n, "control", MODEL, "q1", "none", 1, "s", "measured") for n in range(count))


async def _asked_at_once(folder: Path, count: int) -> list[tuple[Record, ...]]:
    """The batches in which `count` trials, all in flight together, came back."""
    batches: list[tuple[Record, ...]] = []
    with null_target(Schedule(3, first_ms=50), model=MODEL) as url:
        targets = {MODEL: await resolve(ModelSettings(id=MODEL), url)}
        async with rig(folder, targets) as opened:
            order = Order("s", count, trials(count), more=False)
            while sum(map(len, batches)) < count:
                batch = await opened.worker.exchange(order)
                batches.append(batch.records)
                order = Order("s", count, more=False, ack=batch.number)
    return batches


def test_replies_that_end_together_come_in_batches_of_bounded_size(tmp_path: Path) -> None:
    """600 replies that end in one moment: 600 records, each once, at most 256 in one batch."""
    batches = asyncio.run(_asked_at_once(tmp_path, 600))
    records = [record for batch in batches for record in batch]
    assert MOST_RECORDS == 256
    assert max(map(len, batches)) == 256
    assert sorted(record.trial for record in records) == sorted(trial.id for trial in trials(600))
    assert {record.outcome for record in records} == {"answered"}


def test_the_last_of_a_stage_are_marked_as_tail(tmp_path: Path) -> None:
    """Three in flight and nothing more to lease: the first to end had all three slots filled, the others are tail."""
    records = [record for batch in asyncio.run(_asked_at_once(tmp_path, 3)) for record in batch]
    assert sorted(record.phase for record in records) == ["measured", "tail", "tail"]
