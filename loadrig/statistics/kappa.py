"""Agreement beyond chance: Cohen's kappa of two graders (statsmodels), Krippendorff's alpha of several (krippendorff).

Both are 1 for full agreement and 0 for that of chance, and both mislead alone: where nearly every mark is the same,
chance agrees nearly always, and 118 of 120 alike with one differing either way has a raw agreement of .983 and a kappa
of -.008. Whoever shows one shows raw agreement and prevalence beside it. None: not defined, as chance alone would agree
always.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa and its 95 % interval, by its asymptotic variance; each None where it is not defined."""

    kappa: float | None
    low: float | None
    high: float | None


def cohen(table: Sequence[Sequence[int]]) -> Kappa:
    """Kappa (Cohen 1960) of a square table: rows the first grader's marks, columns the second's."""
    from statsmodels.stats.inter_rater import cohens_kappa  # noqa: PLC0415 - takes a second; most runs have one grader

    with np.errstate(invalid="ignore", divide="ignore"):
        found = cohens_kappa(np.array(table))
    return Kappa(_known(found.kappa), _known(found.kappa_low), _known(found.kappa_upp))


def alpha(marks: Sequence[Sequence[bool | None]]) -> float | None:
    """Krippendorff's alpha for nominal data: a row a grader, a column an answer; None where he has not marked it."""
    import krippendorff  # noqa: PLC0415 - only where three graders were at work

    if len({mark for row in marks for mark in row if mark is not None}) < 2:
        return None
    data = [[math.nan if mark is None else float(mark) for mark in row] for row in marks]
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
