"""What the simulator tells of itself to whoever started it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from simulated import FAST, Running, running

from loadrig.simulator.vitals import Vitals


def asked(simulator: Running) -> dict[str, Any]:
    """Its answer to a line on its standard input."""
    assert simulator.process.stdin is not None
    assert simulator.process.stdout is not None
    simulator.process.stdin.write("\n")
    simulator.process.stdin.flush()
    return json.loads(simulator.process.stdout.readline())


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="holds a process with a signal")
def test_a_simulator_that_was_held_up_says_so(tmp_path: Path) -> None:
    """Not run for 60 ms: the next answer has a lag of at least 40 ms; the one after that has it no more."""
    with running(FAST, tmp_path) as simulator:
        asked(simulator)
        os.kill(simulator.process.pid, signal.SIGSTOP)
        time.sleep(0.06)  # the length of the stall itself
        os.kill(simulator.process.pid, signal.SIGCONT)
        held, after = asked(simulator), asked(simulator)
    assert max(held["lags_ns"]) > 40_000_000
    assert max(after["lags_ns"], default=0) < 40_000_000
    assert held["loop"] == "uvloop.Loop"
    assert 0 < held["cpu_ns"] <= after["cpu_ns"]
    assert held["at_ns"] < after["at_ns"]


def test_a_full_collection_is_counted_and_timed() -> None:
    """Two full collections and a young one are two; told once."""

    async def collecting() -> list[dict[str, int]]:
        vitals = Vitals()
        task = asyncio.create_task(vitals.run())
        await asyncio.sleep(0)
        gc.collect()
        gc.collect(0)
        gc.collect()
        told = [json.loads(vitals.line()) for _ in range(2)]
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        return told

    first, second = asyncio.run(collecting())
    assert (first["gc_count"], second["gc_count"]) == (2, 0)
    assert 0 < first["gc_max_ns"] < first["gc_total_ns"] <= 2 * first["gc_max_ns"]
