"""Latency over the time of a run: the trials of an arm in slices of time, failures counted in each.

A trial lies where it began, by the label of its worker's wall clock, in seconds from the first of the run: good for
seeing drift, pauses and spells of failure, and for nothing finer. Slices are of one length within a stage and never
span two stages. Quantiles are exact, of the successes of a slice: scheduled latency in open loop, else service latency.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from loadrig.analysis.selection import arm_names, grouped, open_stages, stage_names, timed
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.stats import rank
from loadrig.words.record import Record, succeeded

SLICES = 40  # over a whole run, at most
FEWEST = 8  # trials of an arm and stage that a slice should have on average


@dataclass(frozen=True, slots=True)
class Moment:
    """A trial: when it began (s), how long it took (ns), whether it succeeded."""

    at_s: float
    took_ns: int
    ok: bool


@dataclass(frozen=True, slots=True)
class Slice:
    """From `from_s` to `to_s`: `ok` successes of `n` trials that began in it, and how long the successes took (ns): the
    value at 5, 50 and 95 %; None without any."""

    from_s: float
    to_s: float
    n: int
    ok: int
    p5_ns: int | None
    p50_ns: int | None
    p95_ns: int | None


@dataclass(frozen=True, slots=True)
class Course:
    """An arm and model in a stage, `moments` by their begin, `slices` of equal length."""

    arm: str
    model: str
    stage: str
    moments: tuple[Moment, ...]
    slices: tuple[Slice, ...]


def courses(run: RunFolder, most: int = SLICES) -> tuple[Course, ...]:
    """Every arm, model and stage with timed trials that have begun, stages in the order they ran."""
    known = [(record, _instant(record.began_at)) for record in timed(run) if record.began_at is not None]
    if not known:
        return ()
    start = min(at for _, at in known)
    whole = max(max(at for _, at in known) - start, 1e-9)
    is_open, order = open_stages(run), {name: place for place, name in enumerate(arm_names(run))}
    by_stage = grouped((record.stage, (record, at - start)) for record, at in known)
    found = []
    for stage in (name for name in stage_names(run) if name in by_stage):
        begins = [at for _, at in by_stage[stage]]
        edges = min(begins), max(begins)
        arms = grouped(((record.arm, record.model), (record, at)) for record, at in by_stage[stage])
        for arm, model in sorted(arms, key=lambda key: (order[key[0]], key[1])):
            moments = sorted(_moments(arms[arm, model], is_open=stage in is_open), key=lambda one: one.at_s)
            number = min(round(most * (edges[1] - edges[0]) / whole), len(moments) // FEWEST)
            found.append(Course(arm, model, stage, tuple(moments), tuple(slices(moments, edges, max(1, number)))))
    return tuple(found)


def slices(moments: Sequence[Moment], edges: tuple[float, float], number: int) -> Iterator[Slice]:
    """So many slices between two instants (s); the last one holds what began at its end."""
    first, last = edges
    bounds = [first + (last - first) * step / number for step in range(number + 1)]
    inside = grouped(
        (min(number - 1, int((one.at_s - first) / (last - first) * number)) if last > first else 0, one)
        for one in moments
    )
    for place, (begin, end) in enumerate(pairwise(bounds)):
        mine = inside.get(place, [])
        good = sorted(one.took_ns for one in mine if one.ok)
        values = [good[rank(share, len(good)) - 1] if good else None for share in (0.05, 0.5, 0.95)]
        yield Slice(begin, end, len(mine), len(good), *values)


def _moments(records: Iterable[tuple[Record, float]], *, is_open: bool) -> Iterator[Moment]:
    value = measure("scheduled" if is_open else "service").value
    for record, at in records:
        took = value(record)
        if took is not None:
            yield Moment(at, int(took), succeeded(record))


def _instant(label: str) -> float:
    return datetime.fromisoformat(label).timestamp()
