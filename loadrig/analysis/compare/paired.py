"""How far each question's time differs between two sides: the values that the row of a typical question is a median of.

A question's time on a side is the median of its timed trials, infinite where most of them did not succeed; then it has
no difference, and is counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from loadrig.analysis.compare.figures import ranked
from loadrig.analysis.compare.sides import Side, stage_pairs


@dataclass(frozen=True, slots=True)
class Each:
    """One question's times, in nanoseconds."""

    question: str
    a_ns: float
    b_ns: float


@dataclass(frozen=True, slots=True)
class Paired:
    """The questions that both sides have in a stage, by rising difference; `beyond` had none, for a side failed."""

    arm: str
    stage: str
    measure: str
    each: tuple[Each, ...]
    beyond: int


def paired(sides: Sequence[tuple[Side, Side]]) -> tuple[Paired, ...]:
    """Of each pair its first common stage: scheduled latency where there is one, else service latency."""
    found = []
    for a, b in sides:
        for first, second in stage_pairs(a, b)[:1]:
            for measure in ("scheduled", "service"):
                of_a, of_b = ([r for r in side.due if r.stage == name] for side, name in ((a, first), (b, second)))
                times = _each(ranked(of_a, measure), ranked(of_b, measure))
                known = [one for one in times if math.isfinite(one.a_ns) and math.isfinite(one.b_ns)]
                if known:
                    known.sort(key=lambda one: one.b_ns - one.a_ns)
                    arm = b.arm if a.arm == b.arm else f"{a.arm} -> {b.arm}"
                    found.append(Paired(arm, first, measure, tuple(known), len(times) - len(known)))
                    break
    return tuple(found)


def _each(a: dict[str, list[float]], b: dict[str, list[float]]) -> list[Each]:
    return [Each(question, median(a[question]), median(b[question])) for question in a if question in b]
