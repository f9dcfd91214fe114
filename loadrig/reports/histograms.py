"""histograms.hlog: the interval log of the timed trials, for tools that read HdrHistogram's format."""

from __future__ import annotations

from pathlib import Path

from loadrig.analysis.selection import timed
from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder
from loadrig.reports.table import bound_mark, one_line
from loadrig.sketch import write_interval_log


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes histograms.hlog into the run's folder. The tag of a stage whose latencies are partly the rig's own ends in
    `!`, in `?` when that was not checked; comments name those stages in words."""
    path = run.path / "histograms.hlog"
    words = {True: "client-bound stage", None: "stage not checked for client-bound"}
    marks = {stage.stage: bound_mark(stage.client_bound) for stage in summary.stages}
    comments = [
        f"{words[stage.client_bound]}: {one_line(stage.stage)}" for stage in summary.stages if marks[stage.stage]
    ]
    write_interval_log(path, timed(run), comments=comments, marks=marks)
    return path
