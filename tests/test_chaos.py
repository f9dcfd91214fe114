"""Runs of the chaos test: faults, seeded, played at whole runs of worker processes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def chaos(*options: str) -> str:
    """What it printed; it said that no promise was broken."""
    command = [sys.executable, str(BENCHMARKS / "chaos.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_lost_silently_or_doubled_whatever_happens() -> None:
    """Workers killed and hanging, a full disk, the target down at start and cut off, two signals, a driver stopped for
    a while, the clock set: planned is the sum of the four, no (trial, try) twice, all that was acknowledged on file, no
    answer lost but those that are said to be, no time that cannot be."""
    told = chaos("--runs", "5", "--seed", "1", "--first", "162")
    played = set(re.findall(r"^\| (\w+_\w+) \|", told, re.MULTILINE))
    assert {"worker_killed", "worker_hangs", "disk_full", "target_cut_off", "interrupted_twice"} <= played
    assert {"target_down_at_start", "clock_stepped", "driver_stopped_for_a_while"} <= played
    sums = next(line for line in told.splitlines() if line.startswith("| all runs"))
    times, planned, *outcomes, lost, gone, untold, doubled, moved = map(int, re.findall(r"\| (\d+)(?= )", sums))
    assert (times, planned, sum(outcomes), untold, doubled, moved) == (5, 800, 800, 0, 0, 0)
    assert gone <= lost


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: no clock can be set for a run alone")
def test_a_wall_clock_that_is_set_moves_no_time_and_ends_no_worker() -> None:
    """Set five times in mid-run, by hours too, which the labels of its records show; all 160 trials are answered, no
    worker is taken for silent, and every time fits what the target saw."""
    told = chaos("--runs", "1", "--faults", "clock_stepped")
    assert float(re.findall(r"clock off by ([\d.]+) h", told)[0]) >= 1
    assert f"| all runs | 1 | 160 | 160 | {'0 | ' * 8}- |\n" in told
    assert "given up unprovoked: 0" in told
