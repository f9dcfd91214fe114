"""The worker's knowledge of itself."""

from __future__ import annotations

import asyncio
import contextlib
import time

from loadrig.worker.probe import Probe


async def _probed(block_s: float, for_s: float) -> tuple[tuple[int, ...], float]:
    probe = Probe()
    probe.take()
    task = asyncio.create_task(probe.run())
    await asyncio.sleep(for_s / 2)
    time.sleep(block_s)  # noqa: ASYNC251 - the blocking is what is measured
    await asyncio.sleep(for_s / 2)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return probe.take()


def test_a_blocked_loop_shows_as_lag() -> None:
    """A call that blocks for 200 ms makes one lag of at least 180 ms; half the lags stay far below."""
    lags, _ = asyncio.run(_probed(0.2, 0.4))
    assert max(lags) > 180_000_000
    assert sorted(lags)[len(lags) // 2] < 100_000_000


def test_lags_are_handed_over_once() -> None:
    """What was taken is not taken again."""
    probe = Probe()
    asyncio.run(_probed(0, 0.1))
    assert probe.take()[0] == ()


def test_a_busy_process_shows_its_share_of_a_core() -> None:
    """Computing for most of a second is most of a core; sleeping is next to nothing."""
    probe = Probe()
    probe.take()
    until = time.monotonic() + 0.7
    while time.monotonic() < until:
        pass
    busy = probe.take()[1]
    resting = Probe()
    resting.take()
    time.sleep(0.7)
    assert busy > 0.3  # of a machine that others may share
    assert resting.take()[1] < 0.1
