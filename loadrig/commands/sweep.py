"""`loadrig sweep PLAN --levels 1,4,16`: one stage a level, in one run, side by side."""

from __future__ import annotations

from pathlib import Path

from loadrig.commands.firing import DONE, INTERRUPTED, console_of, fire
from loadrig.execution.options import Options, Overrides
from loadrig.reports import sweep as reports


def sweep(path: Path, flags: Overrides, options: Options) -> int:
    """Runs and reports; 0 when the sweep completed, whatever it found. The table is sweep.md in the run's folder."""
    fired = fire(path, flags, options, console=None)
    reports.write(fired.summary, fired.folder, console_of())
    return INTERRUPTED if fired.interrupted else DONE
