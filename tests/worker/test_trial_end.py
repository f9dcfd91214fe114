"""When a trial began and ended: what its target did, and nothing of what the rig waited for around it."""

from __future__ import annotations

from pathlib import Path

import open_worker
import pytest
from open_worker import exchanged, records, run_dry, trials, working
from scripted_server import Script, Server
from stream_events import reply

from loadrig.fleet.handle import Handle
from loadrig.words.record import Record
from loadrig.words.settings import ModelLimits, ModelSettings
from loadrig.worker.messages import Order

MS = 1_000_000


def test_a_trial_ends_with_its_reply_though_its_message_stays_open(tmp_path: Path) -> None:
    """The stop event is there and the last chunk never comes: the 20 ms that the connection waits for it are no
    latency, and trial and turn end in the same instant but for what the arm did."""

    async def work(handle: Handle, server: Server) -> Record:
        return records(await run_dry(handle, Order("c1", 1, trials(1), more=False)))[0]

    record = working(tmp_path, Script([(0, reply())], end="hold"), work)
    assert record.end_ns is not None
    assert record.end_ns - record.turns[0].attempts[0].end_ns < 10 * MS


def test_a_wait_for_leave_that_a_stop_cuts_short_counts_as_long_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six requests a minute: the second trial is to wait 10 s, and is cancelled after a tenth of one. It ends after it
    began, and its back-off is what it waited."""

    async def work(handle: Handle, server: Server) -> Record:
        order = Order("c2", 2, trials(2), more=False)
        batches = await exchanged(handle, order, lambda batches: len(records(batches)) == 1)
        more = Order("c2", 2, more=False, ack=batches[-1].number, cancel=True)
        batches += await exchanged(handle, more, lambda batches: len(records(batches)) == 1)
        return records(batches)[-1]

    limited = ModelSettings(id="m-1", limits=ModelLimits(requests_per_minute=6))
    monkeypatch.setattr(open_worker, "ModelSettings", lambda **_: limited)
    record = working(tmp_path, Script([(0, reply())]), work)
    assert record.reason == "cancelled"
    assert record.service_ns is not None
    assert record.backoff_ns is not None
    assert 0 <= record.service_ns < 1000 * MS
    assert 0 < record.backoff_ns < 5000 * MS
