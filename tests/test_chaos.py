"""Five runs of the chaos test: faults, seeded, played at whole runs of worker processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

CHAOS = Path(__file__).resolve().parents[1] / "benchmarks" / "chaos.py"


def test_nothing_is_lost_silently_or_doubled_whatever_happens() -> None:
    """Workers killed and hanging, a full disk, the target cut off, two signals, a driver stopped for a while: planned
    is the sum of the four, no (trial, try) twice, all that was acknowledged on file, no answer lost but those that are
    said to be."""
    command = [sys.executable, str(CHAOS), "--runs", "5", "--seed", "1", "--first", "13"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    played = {fault for line in done.stdout.splitlines() for fault in re.findall(r"^\| (\w+_\w+) \|", line)}
    assert {"worker_killed", "worker_hangs", "disk_full", "target_cut_off", "interrupted_twice"} <= played
    sums = next(line for line in done.stdout.splitlines() if line.startswith("| all runs"))
    times, planned, *outcomes, lost, gone, untold, doubled = map(int, re.findall(r"\d+", sums))
    assert (times, planned, sum(outcomes), untold, doubled) == (5, 800, 800, 0, 0)
    assert gone <= lost
