"""Figures of a load on the null target, from the rig's stamps and the target's own log. Pure.

error        = the rig's interval - the target's interval of the same request (TTFT: begin to first token; E2E: to the
               end), so no clock needs to agree with another
us per event = CPU share of a core / events scheduled a second, where the schedule sets the pace; else CPU of the window
               / events of the replies that ended in it. (Counting ended replies under a slow schedule is biased by up
               to a reply, a quarter of a short window. A client that ends under 70 % of the schedule does not keep
               it; then what it did end counts.)
fit          = CPU per reply = fixed + marginal x events, least squares over the reply lengths measured
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loadrig.selftest.null import Schedule
from loadrig.selftest.rig import Window
from loadrig.stats import rank
from loadrig.worker.probe import Pauses

KEEPS_UP = 0.7


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Exact, in nanoseconds; None without a sample."""

    n: int
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None


@dataclass(frozen=True, slots=True)
class Level:
    """One load: `streams` at once of the schedule's replies, over `seconds`."""

    streams: int
    schedule: Schedule
    seconds: float
    replies: int
    failed: int
    replies_per_s: float
    events_per_s: float
    cpu_share: float
    us_per_reply: float
    us_per_event: float
    ttft_error: Quantiles
    e2e_error: Quantiles
    lag: Quantiles
    target_late: Quantiles
    pauses: Pauses
    loop: str
    stamps: Mapping[str, int]
    record_bytes: int


@dataclass(frozen=True, slots=True)
class Fit:
    """CPU of a reply = `fixed_us` + `marginal_us` x its events."""

    fixed_us: float
    marginal_us: float


def level(window: Window, schedule: Schedule, streams: int, rows: Mapping[str, Mapping[str, Any]]) -> Level:
    """`rows` is the target's log, by attempt."""
    share, replies = window.cpu_s / window.seconds, len(window.replies)
    replies_per_s = replies / window.seconds
    scheduled = streams / schedule.lasts_s if schedule.lasts_s else 0.0
    if not 0 < replies_per_s < KEEPS_UP * scheduled:
        replies_per_s = scheduled or replies_per_s
    matched = [(*one, rows[one[0]]) for one in window.replies if one[0] in rows]
    return Level(
        streams=streams,
        schedule=schedule,
        seconds=window.seconds,
        replies=replies,
        failed=window.failed,
        replies_per_s=replies / window.seconds,
        events_per_s=schedule.events * replies / window.seconds,
        cpu_share=share,
        us_per_reply=1e6 * share / replies_per_s if replies_per_s else 0.0,
        us_per_event=1e6 * share / (replies_per_s * schedule.events) if replies_per_s else 0.0,
        ttft_error=quantiles(
            first_ns - begin_ns - (row["first_token_ns"] - row["received_ns"])
            for _, begin_ns, first_ns, _, row in matched
            if first_ns is not None
        ),
        e2e_error=quantiles(
            end_ns - begin_ns - (row["end_ns"] - row["received_ns"]) for _, begin_ns, _, end_ns, row in matched
        ),
        lag=quantiles(window.lags_ns),
        target_late=quantiles(row["late_ns"] for *_, row in matched),
        pauses=window.pauses,
        loop=window.loop,
        stamps=dict(window.stamps),
        record_bytes=window.record_bytes // replies if replies else 0,
    )


def fit(points: Sequence[tuple[int, float]]) -> Fit:
    """Least squares over (events, microseconds a reply), each relative to its size: a long reply must not drown the
    short ones."""
    events, costs = np.array([point[0] for point in points]), np.array([point[1] for point in points])
    weights = 1 / costs
    table = np.column_stack((np.ones(len(points)), events)) * weights[:, None]
    solution, *_ = np.linalg.lstsq(table, costs * weights, rcond=None)
    return Fit(float(solution[0]), float(solution[1]))


def quantiles(values: Iterable[int]) -> Quantiles:
    """Nearest rank, as everywhere."""
    ordered = sorted(values)
    if not ordered:
        return Quantiles(0, None, None, None)
    return Quantiles(len(ordered), *(ordered[rank(q, len(ordered)) - 1] for q in (0.5, 0.99, 1)))
