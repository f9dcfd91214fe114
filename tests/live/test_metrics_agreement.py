"""A short form of `benchmarks/metrics_agreement.py`: what a real Prometheus heard of a run, scraped every second and
with a worker killed on the way, is what its summary says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "metrics_agreement.py"

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]


@pytest.fixture(scope="module")
def told() -> str:
    """What the script prints of eight seconds at eight trials in flight; that it ended with 0 is asserted by a test."""
    flags = ["--seconds", "8", "--concurrency", "8", "--intervals", "1", "--kill"]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *flags], capture_output=True, text=True, timeout=300, check=False
    )
    return f"{done.stdout}\nexit code {done.returncode}\n{done.stderr}"


def test_counts_are_the_summarys(told: str) -> None:
    """Trials by arm and outcome, tokens by kind and money at the last scrape are those of summary.json, every one."""
    found = re.search(r"^counts at the last scrape: (\d+) of (\d+) agree$", told, re.MULTILINE)
    assert found, told
    assert int(found[1]) == int(found[2]) >= 13, told  # four arms, each answered and two kinds of tokens, and a bill


def test_quantiles_are_in_the_summarys_bucket(told: str) -> None:
    """Each latency quantile of the dashboards, by arm, lies in the bucket of the exact one or in the next."""
    found = re.search(r"^quantiles over the whole run: (\d+) of (\d+) agree$", told, re.MULTILINE)
    assert found, told
    assert int(found[1]) == int(found[2]) >= 16, told  # two quantiles of service and first answer token in four arms


def test_j2_a_killed_worker_takes_nothing_with_it(told: str) -> None:
    """A worker was killed, and lost trials are counted as such; no counter fell in any scrape, nothing is in flight."""
    assert re.search(r"killing w\d, pid \d+", told), told
    assert re.search(r"^    \S+ failed +[1-9]\d*  summary\.json [1-9]\d*  equal$", told, re.MULTILINE), told
    fell = r"^counters: 0 of \d{3,} series fell over \d{4,} samples; 0 in flight at the end$"
    assert re.search(fell, told, re.MULTILINE), told
    assert "\nexit code 0\n" in told, told
