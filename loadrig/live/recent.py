"""Figures of what comes in without an end, in bounded memory: over all of it (`Spread`), and over the last ten seconds
(`Recent`, `Peak`). Pure: times are passed in.

A value is counted under its first ten binary digits, so that a quantile is within 0.1 % of the nearest-rank one and a
spread holds at most 512 counts for each doubling of the values, however many there are. An HdrHistogram as precise
(`loadrig.sketch`) takes 180 kB, and there would be twenty for each arm and figure. A window is made of slots of half a
second, so that it covers between 9.5 and 10 s.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass

DIGITS = 10
WINDOW_NS = 10_000_000_000
SLOT_NS = 500_000_000
SLOTS = WINDOW_NS // SLOT_NS


@dataclass(frozen=True, slots=True)
class Percentiles:
    """p50 and p95 of `n` values, in their unit; both null when there is none."""

    p50_ns: int | None = None
    p95_ns: int | None = None
    n: int = 0


class Spread:
    """How values of 0 and more are spread. `count` of them, `total` their sum."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self._counts: Counter[int] = Counter()

    def add(self, value: int) -> None:
        """One more; a negative one counts as 0."""
        value = max(value, 0)
        shift = max(value.bit_length() - DIGITS, 0)
        self._counts[value >> shift << shift] += 1
        self.count += 1
        self.total += value

    def merge(self, other: Spread) -> None:
        """Adds all of another's values."""
        self._counts.update(other._counts)
        self.count += other.count
        self.total += other.total

    def quantiles(self, *shares: float) -> tuple[int | None, ...]:
        """The values at the nearest ranks of the shares, which rise; null for an empty spread."""
        if not self.count:
            return (None,) * len(shares)
        found: list[int | None] = []
        edges = iter(sorted(self._counts))
        edge, seen = 0, 0
        for share in shares:
            place = max(1, math.ceil(round(share * self.count, 9)))
            while seen < place:
                edge = next(edges)
                seen += self._counts[edge]
            found.append(edge + (1 << max(edge.bit_length() - DIGITS, 0)) // 2)
        return tuple(found)

    def percentiles(self) -> Percentiles:
        """The median and the 95th percentile."""
        p50, p95 = self.quantiles(0.5, 0.95)
        return Percentiles(p50, p95, self.count)


class Recent:
    """The values of the last ten seconds."""

    def __init__(self) -> None:
        self._slots: deque[tuple[int, Spread]] = deque(maxlen=SLOTS)

    def add(self, value: int, now_ns: int) -> None:
        slot = now_ns // SLOT_NS
        if not self._slots or self._slots[-1][0] < slot:
            self._slots.append((slot, Spread()))
        self._slots[-1][1].add(value)

    def spread(self, now_ns: int) -> Spread:
        """All of them together."""
        whole = Spread()
        for slot, part in self._slots:
            if slot > now_ns // SLOT_NS - SLOTS:
                whole.merge(part)
        return whole


class Peak:
    """The largest value of the last ten seconds."""

    def __init__(self) -> None:
        self._slots: deque[tuple[int, int]] = deque(maxlen=SLOTS)

    def add(self, value: int, now_ns: int) -> None:
        slot = now_ns // SLOT_NS
        if self._slots and self._slots[-1][0] >= slot:
            slot, value = self._slots[-1][0], max(value, self._slots.pop()[1])
        self._slots.append((slot, value))

    def largest(self, now_ns: int) -> int | None:
        """Null when nothing came."""
        return max((value for slot, value in self._slots if slot > now_ns // SLOT_NS - SLOTS), default=None)
