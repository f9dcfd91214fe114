"""histograms.hlog: the interval log of the timed trials, for tools that read HdrHistogram's format."""

from __future__ import annotations

from pathlib import Path

from loadrig.analysis.selection import timed
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.table import one_line
from loadrig.sketch import write_interval_log


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes histograms.hlog into the run's folder; comments name the stages whose latencies are partly the rig's."""
    path = run.path / "histograms.hlog"
    bound = [stage.stage for stage in summary.stages if stage.client_bound]
    write_interval_log(path, timed(run), comments=[f"client-bound stage: {one_line(name)}" for name in bound])
    return path
