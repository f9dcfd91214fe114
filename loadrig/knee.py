"""The knee of a sweep: the load at which throughput stops following it, with its interval. Pure.

Asymptotic bounds (Denning and Buzen, "The operational analysis of queueing network models", ACM Computing Surveys
10(3), 1978; Lazowska et al., Quantitative System Performance, 1984, chapter 5): a target that answers a lone trial in
R0 and no more than Xmax a second gives X(N) <= min(N / R0, Xmax). The two meet at N* = R0 Xmax, beyond which trials
must wait for one another. For an open loop it is the offered rate that stands for N, and N* is a rate.

Both are fitted at once, as a line of two segments whose join is unknown (Hudson, "Fitting segmented curves whose join
points have to be estimated", J. American Statistical Association 61, 1966), in logarithms, since errors of a rate are
in proportion to it: each split of the loads into a rising and a flat part gives a = mean of log(X / N) over the one
and b = mean of log X over the other, weighed by the squared errors, and log N* = b - a; the split with the least
squared residuals of the bounds counts. Where service times vary, throughput close to the knee lies below both bounds,
which pulls the knee down a little.

The interval is a parametric bootstrap over the stages (Efron and Tibshirani 1993): each throughput is drawn again about
itself, with its own standard error or the fit's residual, whichever is larger. It knows nothing of what lies between
two loads or beyond the highest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 1000
LEAST_ERROR = 0.005  # of a throughput: nobody knows one better
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Point:
    """A stage: trials in flight, or offered a second; successes a second; the relative standard error of those."""

    load: float
    per_s: float
    error: float


@dataclass(frozen=True, slots=True)
class Knee:
    """`at` is N*, in the unit of the loads, with its 95 % interval. `slope` is 1 / R0: successes a second for each unit
    of load below it; `most_per_s` is Xmax. `reached`: the interval lies below the highest load; else the knee is there
    or beyond."""

    at: float
    low: float
    high: float
    slope: float
    most_per_s: float
    reached: bool


def knee(points: Sequence[Point], *, seed: int = 7) -> Knee | None:
    """The knee of at least three stages at two loads or more with a throughput above 0; None without them."""
    known = sorted((point for point in points if point.per_s > 0), key=lambda point: point.load)
    if len(known) < 3 or known[0].load == known[-1].load:
        return None
    loads, rates = (np.log([getattr(point, name) for point in known]) for name in ("load", "per_s"))
    errors = np.maximum([point.error for point in known], LEAST_ERROR)
    slope, top = (float(one[0]) for one in _fitted(loads, rates[None, :], errors))
    residual = float(np.sqrt(np.mean((rates - np.minimum(slope + loads, top)) ** 2)))
    drawn = rates + np.random.default_rng(seed).normal(size=(DRAWS, len(known))) * np.maximum(errors, residual)
    slopes, tops = _fitted(loads, drawn, errors)
    low, high = (float(one) for one in np.exp(np.quantile(tops - slopes, (0.025, 0.975))))
    at = float(np.exp(top - slope))
    return Knee(at, low, high, float(np.exp(slope)), float(np.exp(top)), reached=high < known[-1].load)


def _fitted(loads: Floats, rates: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """log(1 / R0) and log Xmax of each row of `rates`, by the split with the least squared residuals."""
    weights = 1 / errors**2
    best, slopes, tops = (np.full(len(rates), start) for start in (np.inf, 0.0, 0.0))
    for split in range(1, len(loads)):
        slope = np.average(rates[:, :split] - loads[:split], axis=1, weights=weights[:split])
        top = np.average(rates[:, split:], axis=1, weights=weights[split:])
        residuals = rates - np.minimum(slope[:, None] + loads, top[:, None])
        squares = (weights * residuals**2).sum(axis=1)
        better = squares < best
        best, slopes, tops = (
            np.where(better, new, old) for new, old in ((squares, best), (slope, slopes), (top, tops))
        )  # fmt: skip
    return slopes, tops
