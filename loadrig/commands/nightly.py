"""`loadrig nightly PLAN`: runs the plan, then the cost of a question by arm and local day over all its runs."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from loadrig.commands.judged import DONE, exit_code
from loadrig.config import read_plan
from loadrig.execution.execute import execute
from loadrig.execution.options import Options, Overrides, overridden
from loadrig.live.progress import Progress
from loadrig.reports import nightly as reports
from loadrig.reports import write_all


def nightly(path: Path, flags: Overrides, options: Options, *, report_only: bool) -> int:
    """Runs and reports; the exit code of the run. The table is `nightly-<plan>.md` in the results folder."""
    plan = overridden(read_plan(path), flags)
    console, code = Console(), DONE
    if not report_only:
        with Progress() as progress:
            finished = execute(plan, options, progress)
        summary = write_all(finished.folder, console)
        code = exit_code(summary, allowed_failure_share=plan.allowed_failure_share, interrupted=finished.interrupted)
    reports.write(options.out, plan.name, plan.timezone, console)
    return code
