"""Data keyed by question: what the tests take, and what they refuse.

A mapping can hold one entry a question, so repetitions cannot slip in as further independent answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Verdicts = Mapping[str, bool]
Repeated = Mapping[str, Sequence[float]]


def one_each(data: Verdicts) -> dict[str, bool]:
    """One verdict a question. Raises `TypeError` for data without keys and for several verdicts of one question."""
    for question, verdict in _keyed(data).items():
        if not isinstance(verdict, bool | np.bool_):
            raise TypeError(f"{question}: {verdict!r} is not one verdict; repetitions are not independent answers")
    return {question: bool(verdict) for question, verdict in data.items()}


def several_each(data: Repeated) -> dict[str, np.ndarray]:
    """All values of each question; a question without one is left out. Raises `TypeError` for data without keys."""
    for question, values in _keyed(data).items():
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
            raise TypeError(f"{question}: {values!r} is not a list of the values of its repetitions")
    return {question: np.asarray(values, dtype=float) for question, values in data.items() if len(values)}


def single_each(values: Mapping[str, float]) -> dict[str, list[float]]:
    """One value a question, as the list of its only repetition."""
    return {question: [float(value)] for question, value in values.items()}


def _keyed(data: object) -> Mapping[str, object]:
    if not isinstance(data, Mapping):
        raise TypeError("answers are to be keyed by question: repetitions of one question are not independent")
    return data
