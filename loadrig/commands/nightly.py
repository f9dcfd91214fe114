"""`loadrig nightly PLAN`: runs the plan, then the cost of a question by arm and local day over all its runs."""

from __future__ import annotations

from pathlib import Path

from loadrig.commands.firing import DONE, console_of, fire
from loadrig.config import read_plan
from loadrig.execution.options import Options, Overrides
from loadrig.reports import nightly as reports


def nightly(path: Path, flags: Overrides, options: Options, *, report_only: bool) -> int:
    """Runs and reports; the exit code of the run. The table is nightly-PLAN.md in the results folder."""
    plan = read_plan(path)
    console = console_of()
    code = DONE if report_only else fire(path, flags, options, console=console).exit_code
    reports.write(options.out, plan.name, plan.timezone, console)
    return code
