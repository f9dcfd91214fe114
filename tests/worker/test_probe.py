"""The worker's knowledge of itself."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time

import uvloop

from loadrig.worker.probe import Pauses, Probe, Vitals


async def _probed(block_s: float, for_s: float) -> Vitals:
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
    """A call that blocks for 200 ms makes a lag of at least 180 ms; half the lags stay far below."""
    lags = asyncio.run(_probed(0.2, 0.4)).lags_ns
    assert max(lags) > 180_000_000
    assert sorted(lags)[len(lags) // 2] < 100_000_000


def test_one_stall_delays_every_timer_that_was_due_in_it() -> None:
    """A stall of 100 ms covers ten timers of 10 ms: at least eight lags are over 5 ms, not one."""
    lags = asyncio.run(_probed(0.1, 0.5)).lags_ns
    assert sum(lag > 5_000_000 for lag in lags) >= 8


def test_a_loop_whose_every_turn_is_slow_is_late_by_a_turn_not_by_ever_more() -> None:
    """Turns of 30 ms each for half a second: no lag is over the length of a few turns."""

    async def slow_turns() -> Vitals:
        probe = Probe()
        task = asyncio.create_task(probe.run())
        for _ in range(17):
            time.sleep(0.03)  # noqa: ASYNC251 - the blocking is what is measured
            await asyncio.sleep(0)
        task.cancel()
        return probe.take()

    lags = asyncio.run(slow_turns()).lags_ns
    assert len(lags) >= 45
    assert max(lags) < 150_000_000


def test_what_held_the_loop_before_a_stage_is_not_the_stages() -> None:
    """The loop is held for 300 ms and a stage begins at once: thirty timers were due, and none of them is its own."""

    async def begun_late() -> Vitals:
        probe = Probe()
        task = asyncio.create_task(probe.run())
        await asyncio.sleep(0.05)
        time.sleep(0.3)  # noqa: ASYNC251 - the blocking is what is measured
        probe.begin_stage()
        await asyncio.sleep(0.1)
        task.cancel()
        return probe.take()

    lags = asyncio.run(begun_late()).lags_ns
    assert len(lags) >= 5
    assert max(lags) < 150_000_000


def test_lags_are_handed_over_once() -> None:
    """What was taken is not taken again."""
    probe = Probe()
    asyncio.run(_probed(0, 0.1))
    assert probe.take().lags_ns == ()


def test_a_busy_process_shows_its_share_of_a_core() -> None:
    """Computing for a whole window is most of a core; sleeping for one is next to nothing."""
    probe, resting = Probe(cpu_window_s=0.5), Probe(cpu_window_s=0.5)
    probe.take()
    _compute(0.6)
    busy = probe.take().cpu_share or 0
    resting.take()
    time.sleep(0.6)
    quiet = resting.take().cpu_share
    assert busy > 0.3  # of a machine that others may share
    assert quiet is not None
    assert quiet < 0.1


def test_a_moment_of_work_is_no_share_of_a_window() -> None:
    """Before a whole window has passed there is no share, and a new stage begins without the last one's."""
    probe = Probe(cpu_window_s=0.5)
    probe.take()
    _compute(0.2)
    assert probe.take().cpu_share is None
    _compute(0.4)
    probe.begin_stage()
    assert probe.take().cpu_share is None


def _compute(for_s: float) -> None:
    until = time.monotonic() + for_s
    while time.monotonic() < until:
        pass


def test_full_collections_are_counted_and_timed_while_the_probe_runs() -> None:
    """Two full collections and a young one are two pauses; the longest is at most both together; later ones are not
    seen."""

    async def collecting() -> Pauses:
        probe = Probe()
        task = asyncio.create_task(probe.run())
        await asyncio.sleep(0)
        gc.collect()
        gc.collect(0)
        gc.collect()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        gc.collect()
        return probe.take().pauses

    pauses = asyncio.run(collecting())
    assert pauses.count == 2
    assert 0 < pauses.max_ns < pauses.total_ns <= 2 * pauses.max_ns


def test_the_loop_is_named_by_its_class() -> None:
    """On uvloop the name says so."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(_probed(0, 0.02)).loop == "uvloop.Loop"
