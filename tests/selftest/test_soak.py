"""Thousands of requests through a whole worker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOAK = Path(__file__).resolve().parents[2] / "benchmarks" / "soak.py"


def test_memory_sockets_and_tasks_stay_as_they_were() -> None:
    """5,000 requests: memory within 5 MB of what the first tenth left, no socket and no task left over."""
    done = subprocess.run(
        [sys.executable, str(SOAK), "--requests", "5000", "--streams", "16"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left over: 0 sockets, 0 tasks" in done.stdout
