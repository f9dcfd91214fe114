"""Latency of a group of trials, always twice: of the successes ("n of m"), and with failures beyond every success.

A trial that was timed and did not succeed enters the second with the longest time it is known to have taken: its own
value of the measure if it has one, else its service time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from loadrig.measures import measure
from loadrig.stats import Quantile, quantile
from loadrig.words.record import Record, succeeded


@dataclass(frozen=True, slots=True)
class Spread:
    """Exact quantiles; each None when there is no trial."""

    p50: Quantile | None
    p95: Quantile | None
    p99: Quantile | None


@dataclass(frozen=True, slots=True)
class Latency:
    """One measure, in nanoseconds: `ok` successes of `n` timed trials."""

    ok: int
    n: int
    successes: Spread
    with_failures: Spread


@dataclass(frozen=True, slots=True)
class FirstTurns:
    """How first tokens came about in the first turns of `n` timed trials.

    `hidden_thinking`: thinking went before, unseen, so the TTFT includes it. `burst`: the whole reply came in one
    read, so gaps and TPOT are withheld.
    """

    n: int
    hidden_thinking: int
    burst: int


@dataclass(frozen=True, slots=True)
class Searching:
    """Retrieval time (ns), waiting for the searcher included, of the `n` timed successes that searched before asking.

    `queue_share`: of the time of those whose wait is known, the part spent waiting.
    """

    n: int
    p50: Quantile | None
    p95: Quantile | None
    queue_share: float | None


def latency(records: Iterable[Record], name: str) -> Latency:
    """The quantiles of the measure `name` (ns) over timed records."""
    good, ages = times_of(records, name)
    return Latency(
        ok=len(good),
        n=len(good) + len(ages),
        successes=Spread(*(quantile(good, q) for q in (0.5, 0.95, 0.99))),
        with_failures=Spread(*(quantile(good, q, beyond=ages) for q in (0.5, 0.95, 0.99))),
    )


def times_of(records: Iterable[Record], name: str) -> tuple[list[int], list[int]]:
    """Of timed records: the measure `name` (ns) of the successes that have it, sorted, and the longest time that each
    of the others is known to have taken."""
    value = measure(name).value
    records = list(records)
    good = sorted(int(found) for r in records if succeeded(r) and (found := value(r)) is not None)
    bad = [r for r in records if not succeeded(r)]
    return good, [int(next((age for age in (value(r), r.service_ns) if age is not None), 0)) for r in bad]


def spread(records: Iterable[Record], name: str) -> Spread:
    """The quantiles of the measure `name` (ns) over the successes among timed records that have it."""
    found, _ = times_of(records, name)
    return Spread(*(quantile(found, q) for q in (0.5, 0.95, 0.99)))


def searching(records: Iterable[Record]) -> Searching:
    """Retrieval time of timed records."""
    took = [(r.retrieval_ns, r.retrieval_queue_ns) for r in records if succeeded(r) and r.retrieval_ns is not None]
    times = sorted(whole for whole, _ in took)
    known = [(whole, queue) for whole, queue in took if queue is not None]
    whole_ns, queue_ns = sum(whole for whole, _ in known), sum(queue for _, queue in known)
    share = queue_ns / whole_ns if whole_ns else None
    return Searching(len(times), quantile(times, 0.5), quantile(times, 0.95), share)


def first_turns(records: Iterable[Record]) -> FirstTurns:
    """Counts the labels of first turns of timed records."""
    turns = [record.turns[0] for record in records if record.turns]
    hidden = sum(turn.hidden_thinking for turn in turns)
    return FirstTurns(len(turns), hidden, sum(turn.burst for turn in turns))
