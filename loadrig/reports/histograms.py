"""histograms.hlog: the interval log of the timed trials, for tools that read HdrHistogram's format."""

from __future__ import annotations

from pathlib import Path

from loadrig.analysis.selection import timed
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.sketch import write_interval_log


def write(run: RunFolder, summary: Summary) -> Path:  # noqa: ARG001 - one signature for every report
    """Writes histograms.hlog into the run's folder."""
    path = run.path / "histograms.hlog"
    write_interval_log(path, timed(run))
    return path
