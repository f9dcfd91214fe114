"""By how much a typical question differs: the median over questions of the difference of their own medians.

Questions differ among themselves far more than two runs do, so a quantile over all of them rests on the few questions
near it, while pairing looks at each. The p is Wilcoxon's signed-rank test's (scipy), the interval a bootstrap over
questions. An infinite value is a trial that did not succeed; two of them do not differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from loadrig.statistics.clustered import DRAWS, Difference, Draws, bootstrapped
from loadrig.statistics.keyed import Repeated, several_each
from loadrig.statistics.quantiles import BEYOND, told_beyond


def shift(a: Repeated, b: Repeated, draws: Draws = DRAWS) -> Difference | None:
    """Median of b - a over the questions that both have; `a` and `b` are medians over questions, and their difference
    need not be the median difference. None when no question is in both."""
    first, second = several_each(a), several_each(b)
    common = [question for question in first if question in second]
    if not common:
        return None
    x, y = (np.array([np.median(np.minimum(of[name], BEYOND)) for name in common]) for of in (first, second))
    each = y - x
    low, high, p = None, None, 1.0
    if len(common) > 1:
        low, high = (told_beyond(end) for end in bootstrapped((each,), _median, draws))
        p = float(wilcoxon(each).pvalue) if each.any() else 1.0
    of_a, of_b, value = (told_beyond(float(np.median(of))) for of in (x, y, each))
    return Difference(len(common), of_a, of_b, value, low, high, p)


def _median(x: np.ndarray, axis: int = -1) -> Any:
    return np.median(x, axis=axis)
