"""A sum over questions by another: money by answers. The interval is a percentile bootstrap that draws whole questions.

Repetitions of a question, and its trials in several arms, are one cluster: they share whatever made them dear. A draw
without any success has an infinite ratio; an end of the interval that falls among such draws is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from loadrig.statistics.clustered import DRAWS, Draws, Estimate, bootstrapped
from loadrig.statistics.quantiles import BEYOND


def ratio_of_sums(above: Sequence[float], below: Sequence[float], draws: Draws = DRAWS) -> Estimate | None:
    """sum(above) / sum(below) over questions, one entry of each a question; None when below sums to 0."""
    if not sum(below):
        return None
    data = np.array(above, dtype=float), np.array(below, dtype=float)
    low, high = bootstrapped(data, _ratio, draws) if len(above) > 1 else (None, None)
    return Estimate(len(above), float(_ratio(*data)), _bounded(low), _bounded(high))


def _ratio(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    over, under = np.sum(x, axis=axis), np.sum(y, axis=axis)
    return np.where(under > 0, over / np.where(under > 0, under, 1), BEYOND)[()]


def _bounded(end: float | None) -> float | None:
    return None if end is None or end >= BEYOND / 1e6 else end
