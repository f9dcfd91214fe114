"""`loadrig sweep PLAN --levels 1,4,16`: one stage a level, in one run, side by side."""

from __future__ import annotations

from pathlib import Path

from loadrig.commands.judged import DONE, INTERRUPTED
from loadrig.config import read_plan
from loadrig.execution.execute import execute
from loadrig.execution.options import Options, Overrides, overridden
from loadrig.live.progress import Progress
from loadrig.reports import sweep as reports
from loadrig.reports import write_all
from loadrig.reports.terminal import show


def sweep(path: Path, flags: Overrides, options: Options) -> int:
    """Runs and reports; 0 when the sweep completed, whatever it found."""
    plan = overridden(read_plan(path), flags)
    with Progress() as progress:
        finished = execute(plan, options, progress)
    summary = write_all(finished.folder)
    show(summary)
    reports.write(summary, finished.folder)
    return INTERRUPTED if finished.interrupted else DONE
