"""A slow trial holds its own place in flight, and nobody else's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from command import QUICK, loadrig, only_run, write_plan
from scripted_server import Script, serving
from stream_events import reply

from loadrig.log import RunFolder

# 40 trials of one question and arm, four in flight.
PLAN = (
    QUICK[: QUICK.index("[[arm]]")].replace('tiny.jsonl"', 'tiny.jsonl"\nlimit = 1')
    + '[[arm]]\nkind = "control"\n[load]\nconcurrency = [4]\nwarmup = 0\ncycle = false\n'
)
FAST, SLOW = Script([(20, reply())]), Script([(2000, reply())])


def run(folder: Path) -> tuple[RunFolder, int]:
    """The run against a server whose second answer takes 2 s, the others 20 ms; and its number of requests."""

    async def go() -> int:
        async with serving(FAST, SLOW, FAST) as server:  # the first request asks for a count of tokens
            plan = write_plan(folder, f"repetitions = 40\n{PLAN}")
            flags = ("--out", folder / "results", "--inline", "--base-url", server.url)
            called = await asyncio.to_thread(loadrig, "run", plan, *flags)
            assert called.code == 0, called.err
            return len(server.requests)

    requests = asyncio.run(go())
    return only_run(folder / "results"), requests


def test_nobody_waits_for_a_slow_trial(tmp_path: Path) -> None:
    """G1, G6: one of 40 trials takes 2 s, the others 20 ms, four in flight: all others end before it, and each was
    asked once."""
    found, requests = run(tmp_path)
    *others, slow = sorted(found.records, key=lambda record: record.service_ns or 0)
    assert (len(others), requests) == (39, 41)
    assert (slow.service_ns or 0) >= 2_000_000_000
    assert max(record.end_ns or 0 for record in others) < (slow.end_ns or 0)
