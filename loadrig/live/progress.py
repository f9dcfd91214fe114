"""The progress view: what a run is doing, from the first second until its end, on standard error.

Notices, the start, each stage and each warning are lines that stay. On a terminal a screen below them (`layout.py`) is
redrawn four times a second, by a thread of its own, so that the view lives while the driver waits; at the end one line
takes its place, for the result comes next. Anywhere else, and on a terminal that is dumb, the figures are a line every
two seconds and one at the end. Standard output is never touched, so piping results stays safe; a closed pipe
silences the view, not the run. Plan names and failure reasons are shown as text, never read as markup or as control
sequences. Computes nothing (see `tally.py`, `alarms.py`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from types import TracebackType
from typing import TextIO

from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from loadrig.live.ahead import Ahead
from loadrig.live.alarms import Alarms
from loadrig.live.figures import clock_time, counted, line, shown, title
from loadrig.live.layout import Screen, screen
from loadrig.live.tally import Tally
from loadrig.live.trail import BLOCKS, PLAIN
from loadrig.words.clock import Clock, SystemClock
from loadrig.words.record import Record
from loadrig.words.trial import Pulse, RunInfo

PLAIN_EVERY_NS = 2_000_000_000
REDRAWS_PER_S = 4


class Progress:
    """An `Observer` that shows the run. `with` closes it; `notice` speaks before the run has begun."""

    def __init__(self, stream: TextIO | None = None, *, clock: Clock | None = None) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock or SystemClock()
        self._began_ns = self._clock.now_ns()
        self._said_ns = self._began_ns
        self._doing = "starting"
        self._stage: str | None = None
        self._tally = Tally()
        self._alarms = Alarms()
        self._silent = False
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._console = Console(file=self._stream)
        if self._stream.isatty() and not self._console.is_dumb_terminal:
            self._live = Live(
                console=self._console, get_renderable=self._view, refresh_per_second=REDRAWS_PER_S, transient=True,
                redirect_stdout=False, redirect_stderr=False,
            )  # fmt: skip
            self._live.start()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def notice(self, text: str) -> None:
        """Says what goes on outside the trials: `starting 2 workers`, `building the index`."""
        with self._lock:
            self._doing = text
        self._say(text)

    def warn(self, text: str) -> None:
        """Says what is wrong; from any thread."""
        self._say(f"warning: {text}")

    def expect(self, ahead: Ahead) -> None:
        """What is known of the run before it starts."""
        with self._lock:
            self._tally.expect(ahead)
            self._alarms.expect(ahead)

    def started(self, info: RunInfo) -> None:
        with self._lock:
            self._tally.start(info, self._clock.now_ns())
            self._doing = "running"
        self._say(f"{title(info)}: {info.planned} trials planned")
        self._said_ns = self._clock.now_ns()

    def record(self, record: Record) -> None:
        now_ns = self._clock.now_ns()
        with self._lock:
            self._tally.add(record, now_ns)
            found = self._alarms.record(record, now_ns)
        for sentence in found:
            self.warn(sentence)

    def pulse(self, pulse: Pulse) -> None:
        now_ns = self._clock.now_ns()
        with self._lock:
            self._tally.pulse(pulse, now_ns)
            found = self._alarms.pulse(pulse, now_ns)
        if pulse.stage != self._stage:
            self._stage, self._said_ns = pulse.stage, now_ns
            load = f"{pulse.target} in flight" if pulse.rate_per_s is None else f"{pulse.rate_per_s:g} a second"
            self._say(f"stage {pulse.stage}: {load} over {counted(pulse.workers, 'worker')}")
        for sentence in found:
            self.warn(sentence)
        if self._live is None and now_ns - self._said_ns >= PLAIN_EVERY_NS:
            self._said_ns = now_ns
            self._say(self._line())

    def finished(self) -> None:
        with self._lock:
            self._doing = "finished"
            self._tally.latest = None
        self._say(f"finished: {self._line()}")

    def close(self) -> None:
        """Takes the screen away and gives the terminal back; the lines stay. May be called twice."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: str) -> None:
        """One line that stays: above the live view on a terminal, else simply the next one."""
        if self._silent:
            return
        said = f"[{clock_time(self._elapsed_s())}] {shown(text)}"
        try:
            if self._live is not None:
                self._console.print(Text(said))
                return
            self._stream.write(said + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # the reader of the pipe is gone, or the stream is closed
            self._silent = True

    def _elapsed_s(self) -> float:
        return (self._clock.now_ns() - self._began_ns) / 1e9

    def _line(self) -> str:
        with self._lock:
            return line(self._tally, self._clock.now_ns())

    def _measure(self) -> None:
        """Takes the terminal's own word for its size: that of the environment is as old as the shell that set it."""
        with contextlib.suppress(OSError):
            columns, lines = os.get_terminal_size(self._stream.fileno())
            if columns and lines:
                self._console.size = ConsoleDimensions(columns, lines)

    def _view(self) -> Text:
        self._measure()
        ramp = BLOCKS if self._console.encoding.startswith("utf") else PLAIN
        room = Screen(self._console.width, self._console.height, ramp)
        with self._lock:
            lines = screen(
                self._tally, self._doing, elapsed_s=self._elapsed_s(), now_ns=self._clock.now_ns(), room=room
            )
        return Text("\n", no_wrap=True, overflow="crop", end="").join(Text.assemble(*pieces) for pieces in lines)
