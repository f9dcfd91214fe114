"""When trials are due in open loop: fixed before the run, from a seed, as nanoseconds from the stage's begin. Pure.

Arrivals are made in operational time, in which the rate is one: 0, 1, 2, ... when constant, sums of exponential gaps
when Poisson. The inverse of the integral of the rate maps them to the clock, so that a ramp bends both alike. All is in
whole numbers: the k-th constant arrival is k / rate from the begin, rounded down once, however large k is.

Knows no trial and no worker.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Literal

Arrivals = Literal["poisson", "constant"]

_UNIT = 1_000_000_000  # nanoseconds of a second, and the fineness of operational time


@dataclass(frozen=True, slots=True)
class Pace:
    """`rate_per_s` arrivals a second, reached from 0 by a straight line over the first `ramp_s` seconds."""

    rate_per_s: float
    arrivals: Arrivals
    seed: str
    ramp_s: float = 0.0

    @property
    def ramp_ns(self) -> int:
        return round(self.ramp_s * _UNIT)

    def at_ns(self, operational: int) -> int:
        """The instant at which so many billionths of an arrival are due: the inverse of the integral of the rate, which
        is rate t^2 / (2 ramp) inside the ramp and rate (t - ramp / 2) behind it."""
        steady = Fraction(operational) / self._rate  # what it takes at the full rate
        if steady < Fraction(self.ramp_ns, 2):
            return math.isqrt(int(2 * self.ramp_ns * steady))
        return int(steady + Fraction(self.ramp_ns, 2))

    def due_ns(self) -> Iterator[int]:
        """Every arrival in order, without end; the same for the same seed."""
        return map(self.at_ns, self._operational())

    @property
    def _rate(self) -> Fraction:
        """The rate as the decimal it is written as."""
        return Fraction(str(self.rate_per_s))

    def _operational(self) -> Iterator[int]:
        if self.arrivals == "constant":
            yield from count(0, _UNIT)
        draws, at = random.Random(self.seed), 0
        while True:
            at += round(draws.expovariate(1.0) * _UNIT)
            yield at


@dataclass(frozen=True, slots=True)
class Schedule:
    """Due times in order. Those before `measured_from_ns` are warm-up; the stage ends at `length_ns`, behind all."""

    due_ns: tuple[int, ...]
    measured_from_ns: int
    length_ns: int

    @property
    def warmup(self) -> int:
        """How many are warm-up."""
        return sum(due_ns < self.measured_from_ns for due_ns in self.due_ns)

    @property
    def measured_s(self) -> float:
        return (self.length_ns - self.measured_from_ns) / _UNIT


def lasting(pace: Pace, duration_s: float, *, warmup: int) -> Schedule:
    """All that is due in `duration_s` seconds, behind the ramp and the time that `warmup` arrivals take on average."""
    begin_ns = _measured_from_ns(pace, warmup)
    end_ns = begin_ns + round(duration_s * _UNIT)
    due: list[int] = []
    for due_ns in pace.due_ns():
        if due_ns >= end_ns:
            break
        due.append(due_ns)
    return Schedule(tuple(due), begin_ns, end_ns)


def counting(pace: Pace, number: int, *, warmup: int) -> Schedule:
    """`number` arrivals behind the warm-up; the stage ends when the next one would be due."""
    begin_ns = _measured_from_ns(pace, warmup)
    due: list[int] = []
    measured = 0
    for due_ns in pace.due_ns():
        measured += due_ns >= begin_ns
        if measured > number:
            return Schedule(tuple(due), begin_ns, due_ns)
        due.append(due_ns)
    raise AssertionError("arrivals never end")


def replayed(at_s: tuple[float, ...]) -> Schedule:
    """Arrivals at seconds that somebody else has fixed, in order; the stage ends a second after the last."""
    due = tuple(round(Fraction(str(one)) * _UNIT) for one in at_s)
    return Schedule(due, 0, due[-1] + _UNIT)


def _measured_from_ns(pace: Pace, warmup: int) -> int:
    return pace.ramp_ns + int(warmup * _UNIT / Fraction(str(pace.rate_per_s)))
