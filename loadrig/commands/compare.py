"""`loadrig compare A B`: two runs, or two arms or models of one, question by question; with a gate for pipelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from loadrig.analysis.compare.gate import gate
from loadrig.analysis.compare.paired import paired
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.whole import compare as compared
from loadrig.analysis.judging import objectives_of
from loadrig.commands.firing import DONE, FAILED
from loadrig.log import read_run
from loadrig.objectives import written
from loadrig.reports import compare as reports


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared, and what is to hold: no `objectives` and no `points` is no gate."""

    a: Path
    b: Path | None = None
    arms: Sequence[str] = ()
    models: Sequence[str] = ()
    points: bool = False
    objectives: Sequence[str] = ()
    out: Path | None = None


def compare(asked: Asked, console: Console | None) -> int:
    """Writes compare.md, compare.html and compare.json into `out`, or b's folder; 1 when the gate fails, else 0. Raises
    `InputError` for runs that cannot be compared."""
    objectives = [written(text) for text in asked.objectives]
    a = read_run(asked.a)
    b = a if asked.b is None else read_run(asked.b)
    comparison = compared(a, b, arms=asked.arms, models=asked.models)
    sides = pairs(a, b, arms=asked.arms, models=asked.models)
    if asked.points:  # a gate holds the run to what its own plan promised, too
        objectives = list(dict.fromkeys([*objectives, *objectives_of(b)]))
    wanted = asked.points or objectives
    found = gate(comparison, sides, objectives, points=asked.points) if wanted else None
    out = asked.out or b.path
    out.mkdir(parents=True, exist_ok=True)
    reports.write(comparison, found, out, each=paired(sides), console=console)
    return DONE if found is None or found.passed else FAILED
