"""`loadrig nightly PLAN`: one run a night under a lock and a deadline, then the report over all nights.

The report is written whatever became of the run; the exit code is the run's: 0; 1 more trials failed than allowed; 2
wrong input, or another nightly of this plan at work; 3 stopped, by a signal or by the deadline, results kept. A webhook
that does not answer is a warning, no failure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.console import Console

from loadrig.commands.firing import DONE, fire
from loadrig.commands.lock import held
from loadrig.config import read_plan
from loadrig.execution.options import Options, Overrides
from loadrig.words.errors import InputError, LoadrigError
from loadrig.words.settings import Plan


@dataclass(frozen=True, slots=True)
class Around:
    """What is around the run: how long to wait for the lock, the provider's usage report, where to post the report.
    `webhook` is a secret: whoever has it can write to the channel."""

    wait_s: float = 0.0
    usage: Path | None = None
    webhook: str | None = None
    report_only: bool = False


def nightly(path: Path, flags: Overrides, options: Options, around: Around, *, console: Console | None) -> int:
    """Runs and reports; the exit code of the run."""
    plan = read_plan(path)
    if around.usage is not None:
        from loadrig.analysis.nightly.usage_report import read_usage  # noqa: PLC0415 - loads the read side

        read_usage(around.usage)  # what is wrong with it is said before anything is paid for
    if around.report_only and not options.out.is_dir():
        raise InputError("no such folder of runs", path=options.out, remedy="run the plan first, or correct --out")
    deadline_s = plan.nightly.deadline_s if options.deadline_s is None else options.deadline_s
    code, error = DONE, None
    with held(options.out / f".nightly-{plan.name}.lock", wait_s=around.wait_s):
        if not around.report_only:
            try:
                code = fire(path, flags, replace(options, deadline_s=deadline_s), console=console).exit_code
            except LoadrigError as found:
                error = found
        text = _reported(plan, options.out, around, error, console)
    if around.webhook and text is not None:
        _post(around.webhook, text)
    if error is not None:
        raise error
    return code


def _reported(
    plan: Plan, results: Path, around: Around, error: LoadrigError | None, console: Console | None
) -> bytes | None:
    """Writes the report; the message of a webhook. None where there is nothing to report beside the error itself."""
    from loadrig.analysis.nightly.usage_report import read_usage  # noqa: PLC0415 - scipy loads when there is something
    from loadrig.reports import nightly as reports  # noqa: PLC0415

    wanted = reports.Wanted(
        results, plan.name, plan.timezone, plan.nightly,
        trouble=None if error is None else " ".join(str(error).split()),
        theirs=None if around.usage is None else read_usage(around.usage),
    )  # fmt: skip
    try:
        return reports.message(reports.write(wanted, console))
    except InputError:
        if error is None:
            raise
        return None


def _post(url: str, body: bytes) -> None:
    from loadrig.outside import post_secretly  # noqa: PLC0415

    trouble = post_secretly(url, body)
    if trouble is not None:
        typer.echo(f"loadrig: warning: the webhook was not told: {trouble}", err=True)
