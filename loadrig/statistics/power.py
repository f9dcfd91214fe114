"""Power of McNemar's exact test: what difference n paired questions could have shown.

Of n questions the number of differing pairs is binomial(n, lost + won), and of those the number lost binomial again;
the power is the probability of all pairs of numbers whose exact p is at most alpha. For a given difference it is
greatest when every differing pair goes the same way, so a difference that is not detectable then is not at all.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

ALPHA, WANTED = 0.05, 0.8


def power(n: int, *, lost: float, won: float, alpha: float = ALPHA) -> float:
    """Probability that the test finds a difference, when a share `lost` of questions is right in a only and `won` in b
    only. Raises `ValueError` when they are no shares."""
    differing = lost + won
    if min(lost, won) < 0 or differing > 1:
        raise ValueError(f"{lost} and {won} are no shares of one whole")
    if differing == 0:
        return 0.0
    pairs = np.arange(n + 1)
    limits = _critical(pairs, alpha)
    share = lost / differing
    found = binom.cdf(limits, pairs, share) + binom.cdf(limits, pairs, 1 - share)  # few lost, or few won
    return float(np.sum(binom.pmf(pairs, n, differing) * found))


@lru_cache(maxsize=4096)
def detectable(n: int, *, against: float = 0.0, alpha: float = ALPHA, wanted: float = WANTED) -> float | None:
    """The smallest difference (share of questions) that n questions show with probability `wanted`, when a share
    `against` goes the other way; None when even the largest possible one is not shown so often."""
    largest = 1 - 2 * against

    def short(difference: float) -> float:
        return power(n, lost=against + difference, won=against, alpha=alpha) - wanted

    if largest <= 0 or short(largest) < 0:
        return None
    return float(brentq(short, 0, largest, xtol=1e-6))


def fewest_one_way(alpha: float = ALPHA) -> int:
    """How many differing pairs, all of one way, it takes for an exact p at or below alpha: 6 for .05."""
    count = 1
    while 2 * 0.5**count > alpha:
        count += 1
    return count


def _critical(pairs: np.ndarray, alpha: float) -> np.ndarray:
    """Of each number of pairs: the most on the smaller side whose two-sided exact p is at most alpha; -1: none."""
    least = binom.ppf(alpha / 2, pairs, 0.5)  # the smallest whose tail reaches alpha / 2: itself, or the one below
    return np.asarray(least - (2 * binom.cdf(least, pairs, 0.5) > alpha))
