"""The progress view: what a run is doing, from the first second until its end, on standard error.

Notices, the start and each stage are lines that stay. On a terminal a bar and figures below them are redrawn four
times a second, by a thread of their own, so that the view lives while the driver waits. Anywhere else the figures are
a line every two seconds and one at the end. Standard output is never touched, so piping results stays safe; a closed
pipe silences the view, not the run. Plan names and failure reasons are shown as text, never read as markup.
Computes nothing (see `tally.py`).
"""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from loadrig.live.tally import Percentiles, Tally
from loadrig.words.clock import Clock, SystemClock
from loadrig.words.record import Record
from loadrig.words.trial import Pulse, RunInfo

PLAIN_EVERY_NS = 2_000_000_000
BAR_WIDTH = 40


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
        self._silent = False
        self._lock = threading.Lock()
        self._live: Live | None = None
        console = Console(file=self._stream)
        if self._stream.isatty() and not console.is_dumb_terminal:
            self._live = Live(console=console, get_renderable=self._view, redirect_stdout=False, redirect_stderr=False)
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

    def started(self, info: RunInfo) -> None:
        with self._lock:
            self._tally.start(info, self._clock.now_ns())
            self._doing = "running"
        self._say(f"{_title(info)}: {info.planned} trials planned")

    def record(self, record: Record) -> None:
        with self._lock:
            self._tally.add(record, self._clock.now_ns())

    def pulse(self, pulse: Pulse) -> None:
        with self._lock:
            self._tally.pulse(pulse)
        if pulse.stage != self._stage:
            self._stage = pulse.stage
            load = f"{pulse.target} in flight" if pulse.rate_per_s is None else f"{pulse.rate_per_s:g} a second"
            self._say(f"stage {pulse.stage}: {load} over {_count(pulse.workers, 'worker')}")
        elif self._live is None and self._clock.now_ns() - self._said_ns >= PLAIN_EVERY_NS:
            self._say(self._line())

    def finished(self) -> None:
        with self._lock:
            self._doing = "finished"
            self._tally.latest = None
        if self._live is None:
            self._say(f"finished: {self._line()}")

    def close(self) -> None:
        """Leaves the last view standing and gives the terminal back; may be called twice."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _say(self, text: str) -> None:
        """One line that stays: above the live view on a terminal, else simply the next one."""
        if self._silent:
            return
        self._said_ns = self._clock.now_ns()
        line = f"[{_clock_time(self._elapsed_s())}] {text}"
        try:
            if self._live is not None:
                self._live.console.print(Text(line))
                return
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # the reader of the pipe is gone, or the stream is closed
            self._silent = True

    def _elapsed_s(self) -> float:
        return (self._clock.now_ns() - self._began_ns) / 1e9

    def _line(self) -> str:
        with self._lock:
            return "; ".join((*_counts(self._tally), *_figures(self._tally, self._clock.now_ns())))

    def _view(self) -> Group:
        with self._lock:
            tally, now_ns = self._tally, self._clock.now_ns()
            title = _title(tally.info) if tally.info else "loadrig"
            head = f"{title}  {self._doing}  {_clock_time(self._elapsed_s())}"
            if tally.info is None:
                return Group(Text(head))
            bar = Table.grid()  # a bare bar would not end its line
            bar.add_row(ProgressBar(total=max(tally.planned, 1), completed=tally.done, width=BAR_WIDTH))
            return Group(Text(head), bar, Text("  ".join(_counts(tally))), Text("  ".join(_figures(tally, now_ns))))


def _title(info: RunInfo) -> str:
    return f"{info.plan} (simulated)" if info.simulated else info.plan


def _counts(tally: Tally) -> list[str]:
    """What the trials do and did: `stage c8`, `45/200 done`, `8/8 in flight`, `failed 3 (timeout 2, overloaded 1)`."""
    pulse = tally.latest
    counts = [f"stage {pulse.stage}"] if pulse else []
    counts.append(f"{tally.done}/{tally.planned} done")
    if pulse:
        target = "" if pulse.target is None else f"/{pulse.target}"
        counts.append(f"{pulse.in_flight}{target} in flight")
    reasons = ", ".join(f"{reason} {count}" for reason, count in tally.failures.most_common(3))
    counts.append(f"failed {tally.failed} ({reasons})" if reasons else "failed 0")
    counts += [f"unanswered {tally.unanswered}"] if tally.unanswered else []
    counts += [f"not run {tally.not_run}"] if tally.not_run else []
    return counts + _marks(tally)


def _marks(tally: Tally) -> list[str]:
    """Whose times the latencies partly are: `CLIENT-BOUND (worker w1: loop lag p99 12.1 ms (limit 5.0 ms))`, with the
    stages where they are not the present one alone."""
    stage = tally.latest.stage if tally.latest else None
    where = "" if list(tally.bound) == [stage] else f" in {', '.join(tally.bound)}"
    causes = dict.fromkeys(cause for found in tally.bound.values() for cause in found)
    why = f" ({'; '.join(causes)})" if causes else ""
    marks = [f"CLIENT-BOUND{where}{why}"] if tally.bound else []
    return marks + ([f"client-bound? not checked in {', '.join(sorted(tally.unchecked))}"] if tally.unchecked else [])


def _figures(tally: Tally, now_ns: int) -> list[str]:
    """How fast and how dear so far, and how long still."""
    left_s = tally.left_s(now_ns)
    figures = [f"TTFT {_pair(tally.ttft)}", f"service {_pair(tally.service)}", _cost(tally)]
    figures += [] if left_s is None or tally.done >= tally.planned else [f"about {_clock_time(left_s)} left"]
    return figures


def _pair(percentiles: Percentiles) -> str:
    if percentiles.p50_ns is None or percentiles.p95_ns is None:
        return "p50 - p95 -"
    return f"p50 {_duration(percentiles.p50_ns)} p95 {_duration(percentiles.p95_ns)}"


def _duration(duration_ns: int) -> str:
    return f"{duration_ns / 1e6:.0f} ms" if duration_ns < 1e9 else f"{duration_ns / 1e9:.2f} s"


def _cost(tally: Tally) -> str:
    if tally.cost_partial and not tally.cost_known:
        return "cost unknown"
    currency = tally.info.currency if tally.info else ""
    return f"cost {currency} {tally.cost:.4f}" + (" (partial)" if tally.cost_partial else "")


def _clock_time(duration_s: float) -> str:
    """Minutes and seconds, with hours only when there are any: `0:07`, `12:30`, `1:02:03`."""
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
