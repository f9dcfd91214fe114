"""The simulated provider as a process of its own, with its log: the target of scripts that try other clients on it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Simulator:
    """A running one: its address, and its log."""

    url: str
    log: Path

    def rows(self, least: int = 1) -> list[dict[str, Any]]:
        """Rows of the log, once there are as many."""
        until = time.monotonic() + 5
        while True:
            rows = [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []
            if len(rows) >= least or time.monotonic() > until:
                return rows
            time.sleep(0.05)


@contextlib.contextmanager
def simulator(scenario: str, before: Sequence[str] = ()) -> Iterator[Simulator]:
    """A simulator of that scenario (TOML, or a shipped name). `before`: words before its command."""
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "scenario.toml", Path(folder) / "truth.jsonl"
        path.write_text(scenario)
        named = str(path) if "=" in scenario else scenario
        command = [*before, sys.executable, "-m", "loadrig.simulator", "--scenario", named, "--truth-log", str(log)]
        with subprocess.Popen(
            [*command, "--exit-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            yield Simulator(process.stdout.readline().split()[-1], log)
            process.stdin.close()
