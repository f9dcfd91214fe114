"""The whole distribution of a latency, thinned for a picture: exact values at evenly spaced ranks.

A point is a value of the sorted successes with its rank. Divided by `ok` the ranks give the distribution of the
successes; divided by `n`, one in which every failure lies beyond every success, so that it ends at ok / n. However many
trials there are, no more than `POINTS` of them are kept, the smallest and the largest among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadrig.analysis.latency import times_of
from loadrig.stats import rank
from loadrig.words.record import Record

POINTS = 60


@dataclass(frozen=True, slots=True)
class Distribution:
    """`ok` successes of `n` timed trials. `points`: value (ns) and rank from 1, rising; all of them when
    `ok` is at most `POINTS`. `box`: the values at 5, 25, 50, 75 and 95 % of the successes (ns); empty without any."""

    ok: int
    n: int
    points: tuple[tuple[int, int], ...]
    box: tuple[int, ...]


SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def distribution(records: Iterable[Record], name: str, most: int = POINTS) -> Distribution:
    """Of the measure `name` (ns) over timed records."""
    good, ages = times_of(records, name)
    box = tuple(good[rank(share, len(good)) - 1] for share in SHARES) if good else ()
    return Distribution(len(good), len(good) + len(ages), thinned(good, most), box)


def thinned(values: Sequence[int], most: int) -> tuple[tuple[int, int], ...]:
    """At most so many of the sorted values with their ranks, evenly spaced by rank, first and last among them.

    >>> thinned([10, 20, 30, 40, 50], 3)
    ((10, 1), (30, 3), (50, 5))
    """
    n = len(values)
    if n <= most:
        return tuple((value, place) for place, value in enumerate(values, start=1))
    places = [round(step * (n - 1) / (most - 1)) for step in range(most)]
    return tuple((values[place], place + 1) for place in places)
