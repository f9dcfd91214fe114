"""What SIGINT and SIGTERM do to a run: before it asks anything they end it; then the first stops it and keeps what
comes back in a few seconds, the second ends it at once."""

from __future__ import annotations

import asyncio
import signal
from types import TracebackType

from loadrig.fleet.driver import GRACE_S, Driver
from loadrig.live.progress import Progress

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Signals:
    """`with` takes over both signals for the task it is entered in; `driving` names the driver they stop."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._driver: Driver | None = None

    def __enter__(self) -> Signals:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        for number in NUMBERS:
            self._loop.add_signal_handler(number, self._received)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number in NUMBERS:
            self._loop.remove_signal_handler(number)

    def driving(self, driver: Driver | None) -> None:
        """The driver to stop from now on; None: nothing is asked any more."""
        self._driver = driver

    def _received(self) -> None:
        if self._driver is not None and not self._driver.interrupted:
            self._progress.notice(f"stopping: up to {GRACE_S:g} s for what is in flight; once more to leave at once")
            self._driver.stop()
        elif self._task is not None:
            self._task.cancel()
