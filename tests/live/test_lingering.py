"""The endpoint of a run that has ended, as a scraper finds it."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import httpx
from command import LOADRIG, only_run, write_plan


def test_the_last_totals_wait_for_a_scraper(tmp_path: Path) -> None:
    """J5: told to linger, a finished run still serves its 22 trials and nothing in flight; a signal ends the wait and
    not the run, which reports."""
    flags = ["--out", str(tmp_path / "results"), "--inline", "--metrics-port", "0", "--linger", "60"]
    with subprocess.Popen(
        [*LOADRIG, "run", str(write_plan(tmp_path)), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        url = next(found[1] for line in process.stderr if (found := re.search(r"metrics stay at (\S+) for", line)))
        scraped = httpx.get(url).text
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert "loadrig_trials_planned_total 22.0" in scraped
    assert "loadrig_trials_in_flight 0.0" in scraped
    counts = re.findall(r'^loadrig_trials_total{.*outcome="answered".*} ([\d.]+)$', scraped, re.MULTILINE)
    assert sum(map(float, counts)) == 22
    assert (only_run(tmp_path / "results").path / "report.md").is_file()
