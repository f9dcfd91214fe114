"""`loadrig sweep PLAN`: stages of rising load in one run, side by side, or a search for the highest load that keeps the
plan's objectives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from loadrig.commands.firing import DONE, INTERRUPTED, console_of, fire
from loadrig.commands.steering import Levels, Say, Searching
from loadrig.execution.options import Options, Overrides
from loadrig.execution.steering import Steering
from loadrig.objectives import EXAMPLE
from loadrig.reports import sweep as reports
from loadrig.search import Bounds
from loadrig.words.errors import InputError
from loadrig.words.settings import Plan

CEILING, WIDE = 128, 64  # in flight; of a rate, how often the first one


@dataclass(frozen=True, slots=True)
class Way:
    """How to sweep: `search` or go through the levels; `stop` behind a saturated stage. Of a search only: `ceiling`,
    None for the default, and the most `stages`."""

    search: bool = False
    stop: bool = True
    ceiling: float | None = None
    stages: int = 12


def sweep(path: Path, flags: Overrides, options: Options, way: Way) -> int:
    """Runs and reports; 0 when the sweep completed, whatever it found. The table is sweep.md in the run's folder.

    Raises `InputError` for a plan that cannot be swept so.
    """

    def steer(plan: Plan, say: Say) -> Steering:
        if plan.load.replay:
            raise InputError("a replay has one load", remedy="give --levels or --rate")
        return Searching(plan, _bounds(plan, way), way.stop, say) if way.search else Levels(plan, way.stop, say)

    fired = fire(path, flags, options, console=None, steer=steer)
    reports.write(fired.summary, fired.folder, console_of())
    return INTERRUPTED if fired.interrupted else DONE


def _bounds(plan: Plan, way: Way) -> Bounds:
    if not plan.objectives:
        remedy = f"add [objectives] to the plan, {EXAMPLE}, or --objective"
        raise InputError("a search has nothing to keep: the plan has no objectives", remedy=remedy)
    if not plan.load.is_open and any(one.measure == "scheduled" for one in plan.objectives):
        raise InputError("scheduled latency in a closed loop", remedy="give --rate, or limit latency instead")
    first = float(min(plan.load.rate or plan.load.levels))
    ceiling = way.ceiling or (WIDE * first if plan.load.is_open else max(first, CEILING))
    ceiling = ceiling if plan.load.is_open else math.floor(ceiling)
    if ceiling < first:
        raise InputError(f"the ceiling {ceiling:g} is below the first load {first:g}", remedy="raise --ceiling")
    return Bounds(first, ceiling, whole=not plan.load.is_open, stages=way.stages)
