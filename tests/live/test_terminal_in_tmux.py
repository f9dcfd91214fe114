"""A real run in a real terminal, of 80 and of 160 columns: what stands on the screen, read from it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import LOADRIG, QUICK, write_plan

PATIENCE_S = 120.0
ARMS = ["agentic", "control", "full_context", "rag-bm25-k1", "rag-bm25-k5"]
LASTING = QUICK.replace("cycle = false", "duration_s = 4")

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="tmux is not installed (Debian: apt-get install tmux)"
)


@contextmanager
def terminal(folder: Path, command: str, width: int) -> Iterator[Callable[[], list[str]]]:
    """A terminal of 24 lines that runs a shell command and stays; gives what it shows, line by line. Whatever the
    environment says of its width is wrong."""
    tmux = ["tmux", "-u", "-S", str(folder / "tmux"), "-f", "/dev/null"]
    start = ["new-session", "-d", "-x", str(width), "-y", "24", f"COLUMNS=33 {command}; echo exit code $?; cat"]
    subprocess.run([*tmux, *start], check=True)
    capture = [*tmux, "capture-pane", "-p"]

    def shown() -> list[str]:
        return subprocess.run(capture, check=True, capture_output=True, text=True).stdout.splitlines()

    try:
        yield shown
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)


def waited(shown: Callable[[], list[str]], what: str) -> list[str]:
    """The screen as soon as a pattern stands on it."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        lines = shown()
        if re.search(what, "\n".join(lines), re.MULTILINE):
            return lines
        time.sleep(0.05)
    raise AssertionError(f"never shown: {what}\n" + "\n".join(shown()))


NARROW = "arm done fail TTFT p50 p95 latency p50 p95"
WIDE = "arm done fail TTFT p50 p95 n latency p50 p95 n TTFT p50 p95 latency p50 p95 tok/s cost"


@pytest.mark.parametrize(
    ("width", "headers"), [(80, (NARROW, f"{NARROW} cost", f"{NARROW} tok/s cost")), (160, (WIDE,))]
)
def test_a_run_on_a_terminal(tmp_path: Path, width: int, headers: tuple[str, ...]) -> None:
    """While it runs: head, a row an arm, sparklines, all on one screen and no line wrapped. At the end the screen is
    gone, and the result stands in its place."""
    plan = write_plan(tmp_path, LASTING)
    flags = ["--inline", "--out", str(tmp_path / "results")]
    with terminal(tmp_path, shlex.join([*LOADRIG, "run", str(plan), *flags]), width) as shown:
        lines = waited(shown, r"^TTFT p95 +[▁▂▃▄▅▆▇█ ]{3}")
        top = next(number for number, line in enumerate(lines) if line.startswith("quick (simulated)  stage c4"))
        table = next(number for number, line in enumerate(lines) if line.startswith("arm "))
        assert lines[top + 1].startswith("[")
        assert table - top in (3, 4)  # with a mark where this machine was too slow
        assert " ".join(lines[table].split()) in headers
        assert [line.split()[0] for line in lines[table + 1 : table + 6]] == ARMS
        assert re.match(r"trials/s +[▁▂▃▄▅▆▇█]+  [\d.]+, most [\d.]+$", lines[table + 6])
        ended = "\n".join(waited(shown, r"^exit code 0"))
    assert "stage so far" not in ended
    assert "last 10 s" not in ended
