"""Whether a stage had come to rest, judged from the series of its trials in order, and how sure its mean is. Pure.

MSER-5 (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997;
White, Cobb and Spratt, Winter Simulation Conference 2000): the series is cut into batches of five, Z_1 ... Z_k are
their means, and that d is chosen which makes

    MSER(d) = sum over i > d of (Z_i - mean of Z_{d+1} ... Z_k)^2 / (k - d)^2

least: cutting more must lower the squared error of the mean by more than the lost data raise it. The last five batches
are never all that is left, for few values agree by chance (Hoad, Robinson and Davies, J. Operational Research Society
61, 2010). A cut in the second half says that the series never came to rest. Up to one in four series that are at rest
but have a long tail, or depend on their past as waits in a queue do, are cut there too, so the means of its halves must
also differ, by Student's t over five parts of each, before a series is called unsteady. Trials that do not fill a batch
at the end are left out. Nothing is cut from any figure on its account: warm-up is set by the plan.

Knows no clock and no trial; values are in any one unit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BATCH = 5
LAST = 5  # batches behind the latest cut
FEWEST = 20  # batches: fewer are not judged
PARTS = 5  # of each half
APART = 2.306  # Student's t of 8 degrees of freedom, 95 %
BATCHES = 20  # Schmeiser, Operations Research 30(3), 1982: 10 to 30 of them


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The rule would cut the first `cut` of `n` values; `steady` unless it is more than half and the halves differ."""

    n: int
    cut: int
    steady: bool


def mser5(values: Sequence[float]) -> Steadiness | None:
    """The verdict on a series in order; None of fewer than a hundred values."""
    batches = len(values) // BATCH
    if batches < FEWEST:
        return None
    means = np.asarray(values[: batches * BATCH], dtype=float).reshape(batches, BATCH).mean(axis=1)
    left = [means[cut:] for cut in range(batches - LAST + 1)]
    scores = [float(((rest - rest.mean()) ** 2).sum()) / len(rest) ** 2 for rest in left]
    cut = int(np.argmin(scores))
    return Steadiness(len(values), cut * BATCH, steady=cut <= batches / 2 or not _differ(means))


def _differ(means: NDArray[np.float64]) -> bool:
    """The two halves of a series do."""
    middle = len(means) // 2
    halves = (means[:middle], means[middle:])
    first, second = (np.array([part.mean() for part in np.array_split(half, PARTS)]) for half in halves)
    error = math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / PARTS)
    return bool(abs(second.mean() - first.mean()) > APART * error)


def rate_error(ends: Sequence[float]) -> float | None:
    """The relative standard error of a rate, from the instants at which things ended, in any order: by batch means of
    the times between them, so that their dependence on one another is in it. None of fewer than three batches.
    """
    ordered = np.sort(np.asarray(ends, dtype=float))
    size = max(BATCH, -(-(len(ordered) - 1) // BATCHES))
    times = np.diff(ordered[::size])
    if len(times) < 3 or times.mean() <= 0:
        return None
    return float(times.std(ddof=1) / times.mean() / math.sqrt(len(times)))
