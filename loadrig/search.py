"""Which load to try next on the way to the highest that keeps the objectives, and between which loads it lies. Pure.

From a first load upwards by doubling until one is broken, or downwards by halving until one is kept; then bisection
between the highest kept and the next one that is not, at their middle where loads are whole numbers, else at their
geometric mean. It ends when the two are a tenth apart (or 1, of whole numbers), at the ceiling, or when as many stages
were run as are allowed. A load that stays undecided is not kept, but nobody says that it is broken: the bracket's upper
end tells the two apart.

It is taken for granted that what keeps the objectives does so at any lower load. Knows no trials: a verdict is told to
it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from loadrig.objectives import Verdict

NEAR = 0.1
LOWEST = 1 / 64  # of the first load


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a search begins and how far it may go. `whole`: loads are whole numbers (trials in flight), else rates.
    `stages` counts all, those that are repeated too."""

    first: float
    ceiling: float
    whole: bool
    stages: int = 12


@dataclass(frozen=True, slots=True)
class Tried:
    """A load and its verdict. `saturated`: more load would only make trials wait. `stages`: how many it took."""

    load: float
    verdict: Verdict
    saturated: bool = False
    stages: int = 1


@dataclass(frozen=True, slots=True)
class Bracket:
    """The highest load that keeps the objectives is at least `kept` and below `not_kept`; None: there is no such load
    among those tried. `broken`: that `not_kept` is clearly so, and not undecided."""

    kept: float | None
    not_kept: float | None
    broken: bool


def bracket(tried: Sequence[Tried]) -> Bracket:
    """Between which loads the answer lies so far."""
    broken = min((one.load for one in tried if one.verdict == "broken"), default=math.inf)
    kept = max((one.load for one in tried if one.verdict == "kept" and one.load < broken), default=None)
    over = [one.load for one in tried if one.verdict != "kept" and one.load > (kept or 0)]
    not_kept = min(over, default=None)
    return Bracket(kept, not_kept, broken=not_kept == broken)


def next_load(tried: Sequence[Tried], bounds: Bounds) -> float | None:
    """The load of the next stage; None when the search is over."""
    if not tried:
        return bounds.first
    if sum(one.stages for one in tried) >= bounds.stages:
        return None
    top = max(tried, key=lambda one: one.load)
    if not any(one.verdict == "broken" for one in tried) and not top.saturated and top.load < bounds.ceiling:
        return min(2 * top.load, bounds.ceiling)
    found = bracket(tried)
    if found.not_kept is None:
        return None
    if found.kept is None:
        lower = found.not_kept // 2 if bounds.whole else found.not_kept / 2
        return lower if lower >= (1 if bounds.whole else LOWEST * bounds.first) else None
    return _between(found.kept, found.not_kept, whole=bounds.whole)


def doublings(bounds: Bounds) -> tuple[float, ...]:
    """The loads tried when every one is kept: what a search may have to go through before it bisects."""
    tried: list[Tried] = []
    while (load := next_load(tried, bounds)) is not None:
        tried.append(Tried(load, "kept"))
    return tuple(one.load for one in tried)


def _between(kept: float, not_kept: float, *, whole: bool) -> float | None:
    if whole:
        return (kept + not_kept) // 2 if not_kept - kept > max(1, NEAR * kept) else None
    return float(f"{math.sqrt(kept * not_kept):.3g}") if not_kept > kept * (1 + NEAR) else None
