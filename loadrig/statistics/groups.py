"""Two groups of different units, none of which is in both: Fisher's exact test; and bounds of one small share.

What a unit is, is the caller's to say and to defend: fifteen answers of five arms to one question are five arms, not
fifteen units, and a list of verdicts in place of one is refused.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import binomtest, fisher_exact

from loadrig.statistics.keyed import Verdicts, one_each


def fisher(a: Verdicts, b: Verdicts, *, alternative: Literal["two-sided", "less", "greater"] = "two-sided") -> float:
    """Fisher's exact p; `less`: that a has the smaller share. Raises `TypeError` unless keyed by unit, one verdict
    each, and `ValueError` when a unit is in both groups: then McNemar's test is the one."""
    first, second = one_each(a), one_each(b)
    if first.keys() & second.keys():
        raise ValueError("a unit is in both groups: paired verdicts are for mcnemar")
    table = np.array([[sum(found.values()), len(found) - sum(found.values())] for found in (first, second)])
    return float(fisher_exact(table, alternative=alternative).pvalue)


def upper_bound(k: int, n: int, *, confidence: float = 0.95) -> float:
    """One-sided exact upper bound (Clopper-Pearson) of a share of which `k` of `n` were seen: 0 of 20 is at most .139.
    Raises `ValueError` when n is 0."""
    return float(binomtest(k, n, alternative="less").proportion_ci(confidence, method="exact").high)
