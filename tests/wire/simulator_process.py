"""Runs the simulator as a process of its own, a shipped scenario hurried or as it is."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SCENARIOS = Path(__file__).resolve().parents[2] / "loadrig" / "simulator" / "scenarios"
HURRIED = {"base_ms": 5.0, "decode_ms_per_token": 0.5, "prefill_us_per_token": 0.0, "stall_ms": 100.0}


@contextmanager
def simulator(scenario: str, *, truth_log: Path | None = None) -> Iterator[str]:
    """Its base URL; the process ends with the block. `scenario` is a name or a file."""
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--scenario", scenario, "--exit-with-parent"]
    command += [] if truth_log is None else ["--truth-log", str(truth_log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.stdin.close()
            process.wait(10)


def hurried(name: str, folder: Path) -> str:
    """A copy of a shipped scenario with short times and every dial as it is."""
    dials = {**tomllib.loads((SCENARIOS / f"{name}.toml").read_text()), **HURRIED}
    path = folder / f"{name}.toml"
    path.write_text("".join(f"{key} = {value}\n" for key, value in dials.items()))
    return str(path)
