"""Means over questions with their repetitions as clusters: bootstrap intervals and permutation tests, by scipy.

A question's value is the mean of its repetitions, so that one asked more often weighs no more. Intervals are percentile
bootstraps that draw whole questions, the same on both sides of a comparison (Davison, Hinkley, Bootstrap Methods and
their Application, sections 2.4 and 3.8). The p of a difference is that of a permutation test that swaps the two sides
of whole questions at random: exact when nothing differs. Fewer than two questions have neither interval nor finding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import bootstrap, permutation_test

from loadrig.statistics.keyed import Repeated, several_each

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Draws:
    """How much is drawn at random, and from which seed."""

    seed: int = 7
    bootstraps: int = 2000
    permutations: int = 9999


DRAWS = Draws()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over `n` questions and its 95 % interval; an end that the sample is too small to give is None."""

    n: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """`b` - `a` over the `n` questions that both have, its 95 % interval, and the p of a permutation test. An infinite
    value lies beyond every success."""

    n: int
    a: float
    b: float
    value: float
    low: float | None
    high: float | None
    p: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def mean(data: Repeated, draws: Draws = DRAWS) -> Estimate | None:
    """The mean over questions; None when there is none."""
    values = np.array([found.mean() for found in several_each(data).values()])
    return _estimate((values,), _mean, draws) if len(values) else None


def mean_difference(a: Repeated, b: Repeated, draws: Draws = DRAWS) -> Difference | None:
    """Mean of b - mean of a over the questions that both have; None when there is none."""
    x, y = _common(a, b)
    if not len(x):
        return None
    found = _estimate((x, y), _difference, draws)
    p = 1.0 if len(x) < 2 else permuted((x, y), _difference, draws)
    return Difference(len(x), float(x.mean()), float(y.mean()), found.value, found.low, found.high, p)


def mean_ratio(a: Repeated, b: Repeated, draws: Draws = DRAWS) -> Estimate | None:
    """Mean of b / mean of a over the questions that both have; None when there is none, or when some value of a is 0
    or below."""
    x, y = _common(a, b)
    return _estimate((x, y), _ratio, draws) if len(x) and x.min() > 0 else None


def permuted(data: tuple[np.ndarray, np.ndarray], statistic: Any, draws: Draws, *, batch: int | None = None) -> float:
    """Two-sided p of the statistic when the two sides of each question are swapped at random."""
    result = permutation_test(
        data,
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws.permutations,
        batch=batch,
        rng=np.random.default_rng(draws.seed),
    )
    return float(result.pvalue)


def bootstrapped(
    data: tuple[np.ndarray, ...], statistic: Any, draws: Draws, *, batch: int | None = None
) -> tuple[float, float]:
    """The 95 % percentile interval of the statistic over questions drawn with replacement, the same in all of data."""
    interval = bootstrap(
        data,
        statistic,
        paired=True,
        vectorized=True,
        method="percentile",
        confidence_level=CONFIDENCE,
        n_resamples=draws.bootstraps,
        batch=batch,
        rng=np.random.default_rng(draws.seed),
    ).confidence_interval
    return float(interval.low), float(interval.high)


def _estimate(data: tuple[np.ndarray, ...], statistic: Any, draws: Draws) -> Estimate:
    n, value = len(data[0]), float(statistic(*data))
    low, high = bootstrapped(data, statistic, draws) if n > 1 else (None, None)
    return Estimate(n, value, low, high)


def _common(a: Repeated, b: Repeated) -> tuple[np.ndarray, np.ndarray]:
    first, second = several_each(a), several_each(b)
    common = [question for question in first if question in second]
    x, y = (np.array([of[question].mean() for question in common]) for of in (first, second))
    return x, y


def _mean(x: np.ndarray, axis: int = -1) -> Any:
    return np.mean(x, axis=axis)


def _difference(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return np.mean(y, axis=axis) - np.mean(x, axis=axis)


def _ratio(x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
    return np.mean(y, axis=axis) / np.mean(x, axis=axis)
