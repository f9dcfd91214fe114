"""Which figures of a night are unusual, by one rule that is easy to say and hard to upset.

    unusual   when   |value - m| > max(3.5 x 1.4826 x MAD, floor)

m: the median of the figure over the earlier nights that are looked back on; MAD: the median of their distances
from m, which 1.4826 makes a standard deviation where they are normal; both stand up to a few odd nights among them
(Iglewicz, Hoaglin, How to Detect and Handle Outliers, 1993). The floor keeps quiet nights quiet: nights that are
nearly all alike have a MAD of nearly 0, and then any difference at all would be told. With fewer earlier nights than
the plan's `least` nothing is judged, and that is said.

Floors: cost, tokens a question 10 % of m; TTFT p95 25 % of m; share that failed 2 points; share right 5 points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType
from typing import Literal

from loadrig.analysis.nightly.change import Factor

Measure = Literal["cost per question", "share failed", "tokens a question", "TTFT p95", "share right"]
TIMES, NORMAL = 3.5, 1.4826


@dataclass(frozen=True, slots=True)
class Floor:
    """The least distance that is told: `share` of the median, plus `points` of the figure itself."""

    share: float = 0.0
    points: float = 0.0


FLOORS: Mapping[Measure, Floor] = MappingProxyType(
    {
        "cost per question": Floor(share=0.10),
        "share failed": Floor(points=0.02),
        "tokens a question": Floor(share=0.10),
        "TTFT p95": Floor(share=0.25),
        "share right": Floor(points=0.05),
    }
)
WORSE_WHEN_LOWER: tuple[Measure, ...] = ("share right",)


@dataclass(frozen=True, slots=True)
class Judged:
    """A figure and the `n` earlier nights' median, spread (1.4826 x MAD) and limit: how far from it is unusual."""

    measure: Measure
    value: float
    median: float
    spread: float
    limit: float
    n: int

    @property
    def is_unusual(self) -> bool:
        """Whether it lies further from the median than the limit; at the limit it does not."""
        return abs(self.value - self.median) > self.limit


@dataclass(frozen=True, slots=True)
class Finding:
    """An unusual figure, of one arm and model or, both None, of all questions. `worse`: dearer, slower, more failed or
    fewer right. `cause`: of a cost, what nearly all of the distance from a typical earlier night, that of `against`,
    comes from."""

    arm: str | None
    model: str | None
    judged: Judged
    worse: bool
    cause: Factor | None = None
    against: str | None = None


def judged(measure: Measure, value: float | None, earlier: Sequence[float], *, least: int) -> Judged | None:
    """None when there is no value, or too few to hold it against."""
    if value is None or len(earlier) < least:
        return None
    middle, floor = median(earlier), FLOORS[measure]
    spread = NORMAL * median(abs(one - middle) for one in earlier)
    limit = max(TIMES * spread, floor.share * abs(middle) + floor.points)
    return Judged(measure, value, middle, spread, limit, len(earlier))


def is_worse(found: Judged) -> bool:
    """Whether the figure moved the way that nobody wishes for."""
    return (found.value < found.median) == (found.measure in WORSE_WHEN_LOWER)


def rule(*, nights: int, least: int) -> str:
    """The rule in one sentence, for whoever reads a report."""
    return (
        f"unusual: further from the median of up to {nights} earlier nights than {TIMES:g} x {NORMAL:g} x their "
        "median distance from it, and than a floor of 10 % (cost, tokens), 25 % (TTFT p95), 2 points (failed) or "
        f"5 points (right); judged from {least} such nights on"
    )
