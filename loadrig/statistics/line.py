"""A straight line through points, by least squares (scipy): what one more passage costs, and where two costs meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scipy.stats import linregress


@dataclass(frozen=True, slots=True)
class Line:
    """`start` at x = 0, and `each` for one more x."""

    start: float
    each: float

    def at(self, x: float) -> float:
        """The line's y at x."""
        return self.start + self.each * x

    def reaches(self, y: float) -> float | None:
        """The x at which it is y; None when it never changes."""
        return (y - self.start) / self.each if self.each else None


def line_through(points: Mapping[float, float]) -> Line:
    """The least-squares line through y by x. Raises `ValueError` for fewer than two points."""
    if len(points) < 2:
        raise ValueError("a line wants two points")
    found = linregress(list(points.keys()), list(points.values()))
    return Line(float(found.intercept), float(found.slope))
