"""Differences of quantiles, repetitions as clusters: a bootstrap interval and a permutation test, by scipy.

A side's quantile is over all its values of the questions that both sides have, exact as in `loadrig.stats`: the
ceil(q*n)-th smallest. Whole questions are drawn, or swapped, with all their values. An infinite value is a trial that
did not succeed: it ranks beyond every success, and so does a quantile or a difference in which it ends up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from loadrig.statistics.clustered import DRAWS, Difference, Draws, bootstrapped, permuted
from loadrig.statistics.keyed import Repeated, several_each
from loadrig.stats import rank

BEYOND = 1e18  # stands for infinity, so that two of them differ by 0 and scipy's percentiles stay numbers
_CELLS = 2_000_000  # values weighed at a time: 16 MB


def quantile_difference(a: Repeated, b: Repeated, q: float, draws: Draws = DRAWS) -> Difference | None:
    """The q-quantile of b - that of a; None when no question is in both."""
    first, second = several_each(a), several_each(b)
    common = [question for question in first if question in second]
    if not common:
        return None
    pool = _Pool([first[question] for question in common], [second[question] for question in common], q)
    n = len(common)
    here = np.arange(n)[None, :]
    quantiles = [float(found[0]) for found in pool.drawn(here)]
    value, low, high, p = quantiles[1] - quantiles[0], None, None, 1.0
    if n > 1:
        batch = max(1, _CELLS // len(pool.values))
        low, high = bootstrapped((np.arange(n),), pool.drawn_difference, draws, batch=batch)
        p = permuted((np.arange(n), np.arange(n) + n), pool.swapped_difference, draws, batch=batch)
    low, high = (None if end is None else told_beyond(end) for end in (low, high))
    return Difference(n, told_beyond(quantiles[0]), told_beyond(quantiles[1]), told_beyond(value), low, high, p)


class _Pool:
    """The values of both sides in one sorted row; each question has a number, and each value its question and side."""

    def __init__(self, a: list[np.ndarray], b: list[np.ndarray], q: float) -> None:
        values = np.concatenate([*a, *b])
        question = np.concatenate([np.full(len(of), place) for side in (a, b) for place, of in enumerate(side)])
        in_b = np.concatenate([np.full(sum(map(len, of)), of is b) for of in (a, b)])
        order = np.argsort(values, kind="stable")
        self.values = np.minimum(values[order], BEYOND)
        self.question, self.in_b = question[order], in_b[order]
        self.questions, self.q = len(a), q

    def drawn(self, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Quantiles of a and of b over the questions drawn, one row each; a question may be drawn several times."""
        times = np.zeros((len(drawn), self.questions), dtype=np.int32)
        np.add.at(times, (np.arange(len(drawn))[:, None], drawn), 1)
        a, b = ((self.question[side], self.values[side]) for side in (~self.in_b, self.in_b))
        return self._quantile(times[:, a[0]].cumsum(axis=1), a[1]), self._quantile(times[:, b[0]].cumsum(axis=1), b[1])

    def drawn_difference(self, drawn: np.ndarray, axis: int = -1) -> Any:
        """For scipy.stats.bootstrap."""
        rows = np.moveaxis(drawn, axis, -1)
        a, b = self.drawn(rows.reshape(-1, rows.shape[-1]))
        return (b - a).reshape(rows.shape[:-1])[()]

    def swapped_difference(self, x: np.ndarray, y: np.ndarray, axis: int = -1) -> Any:
        """For scipy.stats.permutation_test: a number of y's in x says that the question's sides are swapped."""
        del y  # what x does not have
        rows = np.moveaxis(x, axis, -1)
        swapped = (rows >= self.questions).reshape(-1, rows.shape[-1])
        in_b = (swapped[:, self.question] != self.in_b).cumsum(axis=1, dtype=np.int32)
        in_a = np.arange(1, len(self.values) + 1, dtype=np.int32) - in_b
        found = self._quantile(in_b, self.values) - self._quantile(in_a, self.values)
        return found.reshape(rows.shape[:-1])[()]

    def _quantile(self, counts: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Of each row: the first value at which its running count reaches the rank of the quantile."""
        totals, place = np.unique(counts[:, -1], return_inverse=True)
        wanted = np.array([rank(self.q, int(total)) for total in totals])[place]
        reached: np.ndarray = np.argmax(counts >= wanted[:, None], axis=1)
        return np.asarray(values[reached])


def told_beyond(value: float) -> float:
    """The value, or infinity for what stands for it."""
    return math.copysign(math.inf, value) if abs(value) >= BEYOND / 10 else value
