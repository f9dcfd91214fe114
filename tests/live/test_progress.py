"""The progress view, on a pipe and on a real terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty

import pytest
from hand_clock import HandClock
from records import S, failed, record, turn

from loadrig.live.progress import Progress
from loadrig.words.trial import Pulse, RunInfo

INFO = RunInfo("r1", "quick[red]", "0.1.0", planned=4, currency="USD", simulated=True)
PULSE = Pulse("c8", 7, 8, 2, 0, 0.3, client_bound=False)
ANSWERED = record("t1", turns=(turn(ttft_ns=S // 5),), service_ns=2 * S, cost="0.0125")
OVERLOADED = failed("t2", "overloaded", turns=(turn(outcome="failed", reason="overloaded"),))


def test_plain_lines_tell_the_run() -> None:
    """Not on a terminal: notice, start, stage, a line every two seconds, the end; the plan's name is never markup."""
    stream, clock = io.StringIO(), HandClock()
    with Progress(stream, clock=clock) as progress:
        progress.notice("starting 2 workers")
        clock.ns = 9 * S
        progress.started(INFO)
        progress.pulse(PULSE)
        for clock.ns in (10 * S, 11 * S, 12 * S):
            progress.record(ANSWERED)
            progress.pulse(PULSE)
        progress.finished()
    assert stream.getvalue().splitlines() == [
        "[0:00] starting 2 workers",
        "[0:09] quick[red] (simulated): 4 trials planned",
        "[0:09] stage c8: 8 in flight over 2 workers",
        "[0:11] stage c8; 2/4 done; 7/8 in flight; failed 0; TTFT p50 200 ms p95 200 ms; service p50 2.00 s p95 2.00 s;"
        " cost USD 0.0250",
        "[0:12] finished: 3/4 done; failed 0; TTFT p50 200 ms p95 200 ms; service p50 2.00 s p95 2.00 s;"
        " cost USD 0.0375",
    ]


def test_an_open_loop_is_told_by_its_rate() -> None:
    """So many a second, and in flight what there is: nothing to compare it with."""
    stream, clock = io.StringIO(), HandClock()
    with Progress(stream, clock=clock) as progress:
        progress.started(INFO)
        for clock.ns in (0, 3 * S):
            progress.pulse(Pulse("r2.5", 7, None, 2, 0, 0.3, client_bound=False, rate_per_s=2.5))
    lines = stream.getvalue().splitlines()
    assert lines[1] == "[0:00] stage r2.5: 2.5 a second over 2 workers"
    assert lines[2].startswith("[0:03] stage r2.5; 0/4 done; 7 in flight; failed 0")


def test_trouble_is_named() -> None:
    """Failures come with their reasons, a rig that is the bottleneck and a cost without price say so."""
    stream, clock = io.StringIO(), HandClock()
    progress = Progress(stream, clock=clock)
    progress.pulse(PULSE)
    clock.ns = 2 * S
    progress.record(OVERLOADED)
    progress.pulse(Pulse("c8", 7, 8, 2, 0, 0.99, client_bound=True))
    line = stream.getvalue().splitlines()[-1]
    assert "failed 1 (overloaded 1); CLIENT-BOUND; TTFT" in line
    assert line.endswith("cost unknown")


def test_a_closed_pipe_does_not_stop_the_run() -> None:
    """When the reader of standard error has gone, the view falls silent and nothing is raised."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1) as stream:
        progress = Progress(stream)
        progress.notice("starting")
        progress.started(INFO)
        progress.finished()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)  # so that closing the stream has somewhere to flush to


def test_a_terminal_shows_the_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal notices stay, the view below them is redrawn and its last state is left standing."""
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream, Progress(stream) as progress:
        progress.started(INFO)
        progress.pulse(PULSE)
        progress.notice("worker 2 is lost")
        progress.record(ANSWERED)
        progress.finished()
    before, last = everything(ours).rsplit("quick[red] (simulated)  finished", 1)
    assert "[0:00] worker 2 is lost" in before
    assert "1/4 done  failed 0" in last
    assert "service p50 2.00 s p95 2.00 s  cost USD 0.0125" in last


def everything(terminal: int) -> str:
    """What was written to a terminal whose other end is closed; its end of file is an error."""
    shown = b""
    with contextlib.suppress(OSError):
        while True:
            shown += os.read(terminal, 4096)
    os.close(terminal)
    return shown.decode()
