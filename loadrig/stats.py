"""Statistics of samples: exact quantiles with their intervals, and shares with Wilson's.

Rules: values are integers of nanoseconds, sorted by the caller; an empty sample gives None, never 0; no quantile is
above the largest value. The q-quantile is the smallest value with at least q*n values at or below it: the
ceil(q*n)-th smallest. Its 95 % interval is the distribution-free one of order statistics: the ranks between which the
count of values below the true quantile, binomial(n, q), falls with at least 95 % (Conover, Practical Nonparametric
Statistics, 3rd ed., section 3.2). An end that the sample is too small to give is None.

Knows no records and no units but nanoseconds. Repetitions of one question are not independent: whoever calls says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

CONFIDENCE = 0.95
FEW = 5


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of `n` trials, `ok` of which gave a value and the rest rank beyond every value.

    `value_ns` is None when the quantile falls among the rest; then it is over `beyond_ns`. `low_ns`, `high_ns`: its
    95 % interval, None where the sample is too small to bound it. `few`: fewer than 5 of the n lie beyond it.
    """

    value_ns: int | None
    n: int
    ok: int
    low_ns: int | None
    high_ns: int | None
    few: bool
    beyond_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """`k` of `n` and its 95 % Wilson interval."""

    k: int
    n: int
    share: float
    low: float
    high: float


def rank(q: float, n: int) -> int:
    """1-based rank of the q-quantile among n: ceil(q*n), with q taken as the decimal it is written as."""
    return max(1, math.ceil(Fraction(str(q)) * n))


def ranks(q: float, n: int) -> tuple[int, int]:
    """1-based ranks of the order statistics that bound the q-quantile of n at 95 %; outside of 1..n where the sample is
    too small to bound it."""
    from scipy.stats import binom  # noqa: PLC0415 - takes a second, and whoever reads a plan needs none of it

    tail = (1 - CONFIDENCE) / 2
    return int(binom.ppf(tail, n, q)), int(binom.ppf(1 - tail, n, q)) + 1


def quantile(values: Sequence[int], q: float, *, beyond: Sequence[int] = ()) -> Quantile | None:
    """The q-quantile of sorted `values` (ns); None when there is no trial at all.

    `beyond` has one time (ns) for each failure: how long it is known to have taken. A failure ranks above every value
    whatever its time; where the quantile falls among failures, `beyond_ns` is the longest time of all.
    """
    n, ok = len(values) + len(beyond), len(values)
    if n == 0:
        return None
    place = rank(q, n)

    def at(position: int) -> int | None:
        return values[position - 1] if 1 <= position <= ok else None

    low, high = ranks(q, n)
    return Quantile(
        value_ns=at(place),
        n=n,
        ok=ok,
        low_ns=at(low),
        high_ns=at(high),
        few=n - place < FEW,
        beyond_ns=max([*values[-1:], *beyond]) if place > ok else None,
    )


def at_least(k: int, n: int, p: float) -> float:
    """The chance of `k` or more of `n` when each comes with chance `p`: one minus the binomial distribution below k."""
    from scipy.stats import binom  # noqa: PLC0415 - as in `ranks`

    return float(binom.sf(k - 1, n, p))


def wilson(k: int, n: int) -> Share | None:
    """`k` of `n` with Wilson's 95 % score interval (Wilson 1927); None when n is 0."""
    from scipy.stats import binomtest  # noqa: PLC0415 - as in `ranks`

    if n == 0:
        return None
    interval = binomtest(k, n).proportion_ci(CONFIDENCE, method="wilson")
    return Share(k, n, k / n, float(interval.low), float(interval.high))
