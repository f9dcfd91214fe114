"""What it costs to watch a run: CPU of the observers at a steady pace of trials, each alone, in ratios.

    python benchmarks/view_cost.py [--per-s 2000] [--seconds 10]

Records are literal and told as the driver tells them, with a pulse every tenth of a second. `pipe`: the progress view
where standard error is none; `terminal`: on a terminal of 160 columns, which a process of its own reads; `metrics`:
with a scrape a second. The first row is the loop alone. A share of a core is worth quoting on an idle machine only.
"""

from __future__ import annotations

import argparse
import io
import itertools
import os
import pty
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import generate_latest

from loadrig.live.metrics import Metrics
from loadrig.live.progress import Progress
from loadrig.words.record import Attempt, Record, Turn, Usage
from loadrig.words.trial import Observer, Pulse, RunInfo

ARMS = ("control", "rag-bm25-k3", "rag-bm25-k5", "rag-bm25-k10", "full_context", "agentic")
PULSE_S = 0.1


class Nobody:
    """Watches nothing."""

    def started(self, info: RunInfo) -> None: ...
    def record(self, record: Record) -> None: ...
    def pulse(self, pulse: Pulse) -> None: ...
    def finished(self) -> None: ...


def records() -> list[Record]:
    """A thousand different trials of six arms."""

    def one(number: int) -> Record:
        ttft_ns = 100_000_000 + 137_911 * number
        attempt = Attempt("2026-11-20T12:00:00Z", 0, 10**9, http_status=200)
        usage = Usage(input=900, output=120)
        return Record(
            run="r1", trial=f"t{number}", try_no=1, arm=ARMS[number % len(ARMS)], model="m", question=f"q{number}",
            category="fact", repetition=1, stage="c64", phase="measured", outcome="answered", service_ns=3 * ttft_ns,
            trial_ttft_ns=ttft_ns, ttfat_ns=ttft_ns, usage=usage, cost="0.0012", currency="USD",
            turns=(Turn("answered", None, (attempt,), ttft_ns=ttft_ns, usage=usage),),
        )  # fmt: skip

    return [one(number) for number in range(1000)]


def cost_s(observer: Observer, per_s: int, seconds: float, *, each_s: Callable[[], object] = lambda: None) -> float:
    """CPU seconds of this process while an observer hears `per_s` trials a second."""
    told = itertools.cycle(records())
    began_s, cpu_s = time.monotonic(), time.process_time()
    observer.started(RunInfo("r1", "watched", "0", planned=round(per_s * seconds), currency="USD", simulated=True))
    scraped_s = 0.0
    for number in range(1, round(seconds / PULSE_S) + 1):
        for record in itertools.islice(told, round(per_s * PULSE_S)):
            observer.record(record)
        observer.pulse(Pulse("c64", 64, 64, 2, 1_000_000, 0.3, client_bound=False))
        if number * PULSE_S - scraped_s >= 1:
            scraped_s = number * PULSE_S
            each_s()
        time.sleep(max(0.0, began_s + number * PULSE_S - time.monotonic()))
    observer.finished()
    return time.process_time() - cpu_s


def on_a_terminal(per_s: int, seconds: float) -> float:
    """The same for the view on a terminal."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 160))
    os.environ.update(TERM="xterm-256color", COLUMNS="160", LINES="40")
    with (
        subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
        os.fdopen(theirs, "w") as stream,
    ):
        os.close(ours)
        with Progress(stream) as progress:
            return cost_s(progress, per_s, seconds)


def main() -> None:
    """Prints a row an observer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-s", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    per_s, seconds = asked.per_s, asked.seconds
    metrics = Metrics()
    rows = {
        "nobody": cost_s(Nobody(), per_s, seconds),
        "pipe": cost_s(Progress(io.StringIO()), per_s, seconds),
        "terminal": on_a_terminal(per_s, seconds),
        "metrics": cost_s(metrics, per_s, seconds, each_s=lambda: generate_latest(metrics.registry)),
    }
    print(f"{per_s} trials a second for {seconds:g} s, {Path(sys.executable).name}")
    for name, cpu_s in rows.items():
        share = (cpu_s - rows["nobody"]) / seconds
        print(f"{name:10} {cpu_s:7.2f} s CPU  {100 * share:5.1f} % of a core  {share / per_s * 1e6:6.1f} us a trial")
    terminal, pipe = rows["terminal"] - rows["nobody"], rows["pipe"] - rows["nobody"]
    print(f"terminal : pipe = {terminal / pipe:.2f}")


if __name__ == "__main__":
    main()
