"""Several tests at once: Holm's step-down adjustment, by statsmodels.

The family-wise error, the chance of one or more false alarms among all of them, is at most alpha when an adjusted p at
or below alpha is taken for a finding (Holm, Scandinavian Journal of Statistics 1979, 6:65).
"""

from __future__ import annotations

from collections.abc import Sequence

from statsmodels.stats.multitest import multipletests


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values, in the order given; of none, none."""
    return tuple(map(float, multipletests(ps, method="holm")[1])) if ps else ()
