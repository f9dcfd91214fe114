"""What run, sweep and nightly share: fire a plan with progress, write its reports, show them, say where they lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from loadrig.config import read_plan
from loadrig.execution.execute import Preparing, execute
from loadrig.execution.options import Options, Overrides, overridden
from loadrig.execution.prepare import Prepared, prepare_screening
from loadrig.execution.screening import Screening, laid_over
from loadrig.execution.steering import Steering
from loadrig.live.progress import Progress
from loadrig.words.settings import Plan
from loadrig.worker.library import Building

if TYPE_CHECKING:
    from loadrig.analysis.summary import Summary

Steer = Callable[[Plan, Callable[[str], None]], Steering]

DONE, FAILED, INTERRUPTED = 0, 1, 3
WIDTH = 110  # where standard output is no terminal: a narrow guess would break the tables


@dataclass(frozen=True, slots=True)
class Fired:
    """A plan, what came of it, and where that lies."""

    plan: Plan
    folder: Path
    summary: Summary
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """3: stopped by a signal."""
        return INTERRUPTED if self.interrupted else exit_code(self.plan, self.summary)


def _screened(screening: Screening, _: Plan, building: Building) -> Prepared:
    return prepare_screening(screening, building=building)


def exit_code(plan: Plan, summary: Summary) -> int:
    """1 when a larger share of the planned failed or was not run than the plan allows."""
    planned = sum(kind.planned for kind in summary.counts)
    missing = sum(kind.failed + kind.not_run + kind.missing for kind in summary.counts)
    return FAILED if missing > plan.allowed_failure_share * planned else DONE


def fire(
    path: Path, flags: Overrides, options: Options, *, console: Console | None, steer: Steer | None = None
) -> Fired:
    """Runs the plan in `path` with the flags laid over it and writes its reports; with a console, shows them too.

    `steer` makes, of the plan and a way to speak to the user, what chooses the run's stages.
    """
    plan = read_plan(path)
    preparing: Preparing | None = None
    if options.screen:
        screening = laid_over(plan, flags)
        plan, preparing = screening.plan, partial(_screened, screening)
    else:
        plan = overridden(plan, flags)
    with Progress() as progress:
        steering = None if steer is None else steer(plan, progress.notice)
        finished = execute(plan, options, progress, steering=steering, preparing=preparing)
    from loadrig.reports import write_all  # noqa: PLC0415 - pandas and scipy load when there is something to report

    return Fired(plan, finished.folder, write_all(finished.folder, console), finished.interrupted)


def console_of() -> Console:
    """Standard output: as wide as the terminal, or 110 columns."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)
