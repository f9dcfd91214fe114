"""`loadrig run PLAN`: fires the plan, prints the table, writes the reports, says where they lie."""

from __future__ import annotations

from pathlib import Path

from loadrig.commands.judged import exit_code
from loadrig.config import read_plan
from loadrig.execution.execute import execute
from loadrig.execution.options import Options, Overrides, overridden
from loadrig.live.progress import Progress
from loadrig.reports import write_all
from loadrig.reports.terminal import show


def fire(path: Path, flags: Overrides, options: Options) -> int:
    """Runs and reports; the exit code."""
    plan = overridden(read_plan(path), flags)
    with Progress() as progress:
        finished = execute(plan, options, progress)
    summary = write_all(finished.folder)
    show(summary)
    return exit_code(summary, allowed_failure_share=plan.allowed_failure_share, interrupted=finished.interrupted)
