"""The deadline of a run: what a first signal does, at a time that was fixed before; and then no more."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass

import pytest

from loadrig.execution.signals import Signals
from loadrig.live.progress import Progress

SOON_S, LATER_S = 0.01, 30.0


@dataclass
class Stopped:
    """As much of a driver as a signal needs."""

    interrupted: bool = False
    times: int = 0

    def stop(self) -> None:
        self.interrupted = True
        self.times += 1


async def _for_a_while(signals: Signals, driver: Stopped | None) -> None:
    with signals:
        signals.driving(driver)  # type: ignore[arg-type]
        await asyncio.sleep(SOON_S * 10)


def after(driver: Stopped | None, deadline_s: float | None) -> Signals:
    with Progress(io.StringIO()) as progress:
        signals = Signals(progress, deadline_s=deadline_s)
        asyncio.run(_for_a_while(signals, driver))
    return signals


def test_the_deadline_stops_the_run_once() -> None:
    """As a first signal does, and it is known that it was the deadline."""
    driver = Stopped()
    assert after(driver, SOON_S).cut_short
    assert driver.times == 1


def test_a_run_that_was_stopped_already_is_left_alone() -> None:
    """A second stop would end it at once."""
    driver = Stopped(interrupted=True)
    assert not after(driver, SOON_S).cut_short
    assert driver.times == 0


@pytest.mark.parametrize("deadline_s", [None, LATER_S])
def test_a_deadline_that_is_not_reached_does_nothing(deadline_s: float | None) -> None:
    """Nor does none at all."""
    driver = Stopped()
    assert not after(driver, deadline_s).cut_short
    assert driver.times == 0


def test_when_nothing_is_asked_any_more_no_deadline_is_missed() -> None:
    """The run has ended, and its reports take their time."""

    async def ended() -> Signals:
        with Progress(io.StringIO()) as progress, Signals(progress, deadline_s=SOON_S) as signals:
            signals.driving(None)
            await asyncio.sleep(SOON_S * 10)
        return signals

    assert not asyncio.run(ended()).cut_short


def test_before_the_first_trial_the_deadline_ends_the_run() -> None:
    """Nobody has driven anything yet: the task is cancelled."""

    async def building() -> None:
        with Progress(io.StringIO()) as progress, Signals(progress, deadline_s=SOON_S):
            await asyncio.sleep(LATER_S)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(building())
