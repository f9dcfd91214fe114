"""Histograms for what must be merged or shown live, and the interval log of a run: the one home of hdrhistogram.

Rules: values are nanoseconds in and out, microseconds inside, 1 us to 1 h with 3 digits; all sketches are alike, so a
merge can neither fail nor lose a value. What lies over the top is counted at the top, and the true maximum is kept
beside it: no quantile is above it. An empty sketch answers None. The table of counts is made with the first value.

Summaries and reports do not use it: their quantiles are exact (`loadrig.stats`). The largest error here is 0.1 %, or
1 us.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram

from loadrig.words.record import Record, succeeded

LOWEST_US, HIGHEST_US, DIGITS = 1, 3_600_000_000, 3
_NS_PER_US = 1000


class Sketch:
    """A histogram of durations. `count` values; `clamped` of them were over an hour; `max_ns` is the true maximum."""

    def __init__(self) -> None:
        self.count = 0
        self.clamped = 0
        self.max_ns: int | None = None
        self._counts: HdrHistogram | None = None

    def record(self, value_ns: int) -> None:
        """Adds one duration; a negative one is a mistake of ours (`ValueError`)."""
        if value_ns < 0:
            raise ValueError(f"a duration of {value_ns} ns")
        value_us = max(LOWEST_US, round(value_ns / _NS_PER_US))
        self._histogram().record_value(min(value_us, HIGHEST_US))
        self.count += 1
        self.clamped += value_us > HIGHEST_US
        self.max_ns = max(self.max_ns or 0, value_ns)

    def merge(self, other: Sketch) -> None:
        """Adds all of another's values."""
        if other._counts is None or other.max_ns is None:
            return
        self._histogram().add(other._counts)
        self.count += other.count
        self.clamped += other.clamped
        self.max_ns = max(self.max_ns or 0, other.max_ns)

    def quantile_ns(self, q: float) -> int | None:
        """The q-quantile, 0 < q <= 1, as `loadrig.stats` defines it, within the precision; None when empty."""
        if self._counts is None or self.max_ns is None:
            return None
        place = max(1, int(np.ceil(round(q * self.count, 9))))
        if place > self.count - max(1, self.clamped):
            return self.max_ns
        table = np.frombuffer(self._counts.counts, dtype=np.int64)
        index = int(np.searchsorted(np.cumsum(table), place))
        value_us = self._counts.get_highest_equivalent_value(self._counts.get_value_from_index(index))
        return min(int(value_us) * _NS_PER_US, self.max_ns)

    def encoded(self) -> str:
        """The counts in HdrHistogram's V2 compressed form, base64."""
        return str(self._histogram().encode().decode())

    def _histogram(self) -> HdrHistogram:
        if self._counts is None:
            self._counts = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)
        return self._counts


def write_interval_log(
    path: Path, records: Iterable[Record], *, comments: Sequence[str] = (), marks: Mapping[str, str] | None = None
) -> None:
    """Writes histograms.hlog: service latency of the measured successes, one interval for each arm and stage.

    The tag is `arm/stage` with the stage's mark, if it has one; values are microseconds, the maximum of a line is in
    milliseconds. The interval runs from the first trial's wall time to the last trial's end, as wall time tells it.
    """
    sketches: dict[str, Sketch] = {}
    spans: dict[str, tuple[float, float]] = {}
    for record in records:
        if record.phase != "measured" or not succeeded(record) or record.service_ns is None or record.began_at is None:
            continue
        tag = f"{record.arm}/{record.stage}{(marks or {}).get(record.stage, '')}"
        sketches.setdefault(tag, Sketch()).record(record.service_ns)
        begin_s = datetime.fromisoformat(record.began_at).timestamp()
        first_s, last_s = spans.get(tag, (begin_s, begin_s))
        spans[tag] = (min(first_s, begin_s), max(last_s, begin_s + record.service_ns / 1e9))
    remarks = "".join(f"#[{comment}]\n" for comment in comments)
    path.write_text(remarks + "".join(_log_lines(sketches, spans)), encoding="utf-8")


def _log_lines(sketches: Mapping[str, Sketch], spans: Mapping[str, tuple[float, float]]) -> Iterable[str]:
    base_s = min((begin_s for begin_s, _ in spans.values()), default=0.0)
    yield "#[Service latency of measured successes in microseconds, tagged arm/stage]\n"
    yield "#[Histogram log format version 1.3]\n"
    yield f"#[StartTime: {base_s:.3f} (seconds since epoch)]\n"
    yield f"#[BaseTime: {base_s:.3f} (seconds since epoch)]\n"
    yield '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    for tag in sorted(sketches, key=lambda name: (spans[name], name)):
        begin_s, end_s = spans[tag]
        max_ms = (sketches[tag].max_ns or 0) / 1e6
        yield f"Tag={tag},{begin_s - base_s:.3f},{end_s - begin_s:.3f},{max_ms:.3f},{sketches[tag].encoded()}\n"
