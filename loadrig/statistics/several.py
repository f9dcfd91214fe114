"""Several tests at once: Holm's step-down adjustment.

    adjusted p of the i-th smallest of m = max over j <= i of min(1, (m - j + 1) p_j)

The family-wise error, the chance of one or more false alarms among all of them, is at most alpha when an adjusted p at
or below alpha is taken for a finding (Holm, Scandinavian Journal of Statistics 1979, 6:65). statsmodels has it too, but
collects garbage each time: with a long run in memory that is a second a family.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values, in the order given; of none, none."""
    order = np.argsort(ps)
    raised = np.asarray(ps)[order] * np.arange(len(ps), 0, -1)
    adjusted = np.empty(len(ps))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return tuple(map(float, adjusted))
