"""What SIGINT and SIGTERM do to a run: before it asks anything they end it; then the first stops it and keeps what
comes back in a few seconds, the second ends it at once. A deadline does what a first signal does."""

from __future__ import annotations

import asyncio
import signal
from types import TracebackType

from loadrig.fleet.driver import GRACE_S, Driver
from loadrig.live.progress import Progress

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """`with` takes over both signals for the task it is entered in, and begins to count to the deadline; `driving`
    names the driver they stop. `cut_short`: it was the deadline that stopped it."""

    def __init__(self, progress: Progress, *, deadline_s: float | None = None) -> None:
        self._progress = progress
        self._deadline_s = deadline_s
        self._timer: asyncio.TimerHandle | None = None
        self._driver: Driver | None = None
        self.cut_short = False

    def __enter__(self) -> Signals:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._deadline_s is not None:
            self._timer = self._loop.call_later(self._deadline_s, self._overdue)
        for number in NUMBERS:
            self._loop.add_signal_handler(number, self._received)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._forget()
        for number in NUMBERS:
            self._loop.remove_signal_handler(number)

    def driving(self, driver: Driver | None) -> None:
        """The driver to stop from now on; None: nothing is asked any more, and no deadline can be missed."""
        self._driver = driver
        if driver is None:
            self._forget()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _overdue(self) -> None:
        if self._driver is None or not self._driver.interrupted:
            self.cut_short = True
            self._progress.notice(f"the deadline of {self._deadline_s:g} s is reached")
            self._received()

    def _received(self) -> None:
        if self._driver is not None and not self._driver.interrupted:
            self._progress.notice(f"stopping: up to {GRACE_S:g} s for what is in flight; once more to leave at once")
            self._driver.stop()
        elif self._task is not None:
            self._task.cancel()
