"""The progress view, on a pipe and on a real terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import threading
import time
from collections.abc import Callable

import pytest
from hand_clock import HandClock
from records import S, failed, record, turn

from loadrig.live.progress import Progress
from loadrig.words.trial import Pulse, RunInfo

VIEW = "\x1b[1mstage c8"
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


def test_a_terminal_keeps_the_lines_and_not_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal notices stay and the view below them is redrawn; at its end a line says how it ended."""
    monkeypatch.setenv("TERM", "xterm")
    shown = on_a_terminal(lambda progress: progress.notice("worker 2 is lost"))
    assert "[0:00] worker 2 is lost" in shown
    view, last = shown.rsplit("[0:00] finished: ", 1)
    assert f"quick[red] (simulated)\x1b[0m  {VIEW}" in view
    assert "1/4 done  7/8 in flight  failed 0" in view
    assert last.replace(" \r\n", " ").startswith(
        "1/4 done; failed 0; TTFT p50 200 ms p95 200 ms; service p50 2.00 s p95 2.00 s; cost USD 0.0"
    )


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_can_be_had_without(monkeypatch: pytest.MonkeyPatch, no_color: str, coloured: bool) -> None:
    """With NO_COLOR set to anything the view is drawn without a colour."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", no_color)
    assert bool(re.search(r"\x1b\[[0-9;]*3\dm", on_a_terminal())) is coloured


def test_a_dumb_terminal_is_told_in_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal that cannot move its cursor gets what a pipe gets, and no control sequence."""
    monkeypatch.setenv("TERM", "dumb")
    shown = on_a_terminal(drawn="stage c8")
    assert "\x1b" not in shown
    assert [line.split("] ", 1)[1].split(":")[0].split(";")[0] for line in shown.splitlines()] == [
        "quick[red] (simulated)", "stage c8", "finished",
    ]  # fmt: skip


def test_warnings_are_lines_that_stay_and_are_said_once() -> None:
    """A rig that is the bottleneck in ten pulses of a stage is one line, with its cause."""
    stream, clock = io.StringIO(), HandClock()
    progress = Progress(stream, clock=clock)
    for clock.ns in range(0, 5 * S, S // 2):
        progress.pulse(Pulse("c8", 7, 8, 2, 0, 0.99, client_bound=True, bound_by=("worker w1: CPU 99 %",)))
    warned = [line for line in stream.getvalue().splitlines() if "warning" in line]
    assert warned == [
        "[0:02] warning: stage c8 is client-bound, its latencies are partly the rig's: worker w1: CPU 99 %"
    ]


def test_what_others_wrote_cannot_steer_the_terminal() -> None:
    """Control sequences in a plan's name, a notice or a stage are shown as question marks."""
    stream = io.StringIO()
    progress = Progress(stream, clock=HandClock())
    progress.notice("building \x1b]0;owned\x07")
    progress.started(RunInfo("r1", "a\x1b[2Jb", "0.1.0", planned=4, currency="USD", simulated=False))
    progress.pulse(Pulse("c\r8", 7, 8, 2, 0, 0.3, client_bound=False))
    assert stream.getvalue().splitlines() == [
        "[0:00] building ?]0;owned?", "[0:00] a?[2Jb: 4 trials planned", "[0:00] stage c?8: 8 in flight over 2 workers",
    ]  # fmt: skip


def test_a_screen_is_drawn_no_more_than_four_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand trials and pulses on a terminal draw it not a thousand times: drawing costs what time costs."""
    monkeypatch.setenv("TERM", "xterm")

    def busy(progress: Progress) -> None:
        for _ in range(1000):
            progress.record(ANSWERED)
            progress.pulse(PULSE)

    began = time.monotonic()
    frames = on_a_terminal(busy).count(VIEW)
    assert frames <= 4 * (time.monotonic() - began) + 8  # each line that stays draws it anew, too


def on_a_terminal(meanwhile: Callable[[Progress], object] = lambda _: None, *, drawn: str = VIEW) -> str:
    """All that is written to a terminal while a run of one trial lasts, at least until a screen with `drawn` was."""
    ours, theirs = pty.openpty()
    shown, has_come = bytearray(), threading.Event()

    def read() -> None:
        with contextlib.suppress(OSError):  # the end of file of a terminal whose other end is closed
            while True:
                shown.extend(os.read(ours, 4096))
                if drawn.encode() in shown:
                    has_come.set()

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(theirs, "w") as stream, Progress(stream) as progress:
        progress.started(INFO)
        progress.pulse(PULSE)
        progress.record(ANSWERED)
        meanwhile(progress)
        assert has_come.wait(30)
        progress.finished()
    reader.join()
    os.close(ours)
    return shown.decode()
