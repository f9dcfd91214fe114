"""A run's throughput and first-token time from its beginning until now, in at most 48 points, and their drawing in one
line of text. When the points are full, neighbours are merged: each then stands for twice as long. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from loadrig.live.recent import Spread

POINTS = 48
FIRST_NS = 1_000_000_000
NOW_NS = 10_000_000_000
BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", ".:-=+*#@"


class _Point:
    def __init__(self) -> None:
        self.ended = 0
        self.ttft = Spread()
        self._p95: tuple[int, int | None] = (0, None)

    def p95(self) -> int | None:
        if self._p95[0] != self.ttft.count:
            self._p95 = (self.ttft.count, self.ttft.quantiles(0.95)[0])
        return self._p95[1]

    def merge(self, other: _Point) -> None:
        self.ended += other.ended
        self.ttft.merge(other.ttft)


class Trail:
    """Trials that ended and first-token times of successful turns, by when they were heard of."""

    def __init__(self) -> None:
        self.began_ns = 0
        self._each_ns = FIRST_NS
        self._points: list[_Point] = []

    def add(self, ttft_ns: Iterable[int], now_ns: int) -> None:
        """One trial has ended."""
        point = self._at(now_ns)
        point.ended += 1
        for value_ns in ttft_ns:
            point.ttft.add(value_ns)

    def throughput(self, now_ns: int) -> list[float]:
        """Trials ended a second; a last point that is not over yet is left out, unless it is the only one."""
        self._at(now_ns)
        over = max((now_ns - self.began_ns) // self._each_ns, 0)
        if not over:
            return [point.ended * 1e9 / max(now_ns - self.began_ns, FIRST_NS) for point in self._points]
        return [point.ended * 1e9 / self._each_ns for point in self._points[:over]]

    def pace(self, now_ns: int) -> float:
        """Trials ended a second, of the points of the last ten seconds that are over, or the last one."""
        points = self.throughput(now_ns)
        latest = points[-max(NOW_NS // self._each_ns, 1) :]
        return sum(latest) / len(latest)

    def ttft_p95(self, now_ns: int) -> list[int | None]:
        """Nanoseconds; null where no turn had a first token."""
        self._at(now_ns)
        return [point.p95() for point in self._points]

    def _at(self, now_ns: int) -> _Point:
        """The point of an instant, and all before it."""
        while (place := max(now_ns - self.began_ns, 0) // self._each_ns) >= POINTS:
            self._halve()
        while len(self._points) <= place:
            self._points.append(_Point())
        return self._points[place]

    def _halve(self) -> None:
        for left, right in zip(self._points[::2], self._points[1::2], strict=False):
            left.merge(right)
        self._points = self._points[::2]
        self._each_ns *= 2


def sparkline(values: Sequence[float | None], ramp: str = BLOCKS) -> str:
    """A character a value, as high as its share of the largest; a blank where there is none."""
    top = max((value for value in values if value is not None), default=0)
    steps = len(ramp) - 1
    return "".join(" " if value is None else ramp[round(value / top * steps) if top else 0] for value in values)
