"""Whether trials keep the plan's objectives: each objective over a sample, and each trial for goodput.

A quantile is over timed trials (scheduled latency: over all that were due), and a trial that did not succeed lies
beyond every limit. Errors are failed trials, and in open loop those never sent in time, of the trials that were due. A
single trial meets the objectives when it was answered and each of its measures that an objective names is within the
limit; of two limits on one measure, of different quantiles, the wider counts. Shares and errors say nothing of a single
trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from loadrig.analysis.latency import times_of
from loadrig.analysis.selection import asked, due, timed
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.objectives import Verdict, of_quantile, of_share
from loadrig.stats import Quantile, Share, quantile, wilson
from loadrig.words.record import Record, succeeded
from loadrig.words.settings import Objective


@dataclass(frozen=True, slots=True)
class Judged:
    """One objective over one sample: `value` of a quantile, `share` of errors, with their intervals; the other is
    None, and both are of an empty sample, which is undecided."""

    objective: str
    limit: float
    verdict: Verdict
    value: Quantile | None
    share: Share | None


def objectives_of(run: RunFolder) -> tuple[Objective, ...]:
    """Those of the run's plan."""
    plan: Mapping[str, Any] = run.manifest.get("plan") or {}
    return msgspec.convert(plan.get("objectives") or (), tuple[Objective, ...])


def judged(run: RunFolder, objectives: Iterable[Objective], stages: Sequence[str]) -> tuple[Judged, ...]:
    """Each objective over the trials of some stages, all arms together."""
    sent, times, expected = ([r for r in of(run) if r.stage in stages] for of in (asked, timed, due))
    return tuple(judge(one, asked=sent, timed=times, due=expected) for one in objectives)


def judge(one: Objective, *, asked: Sequence[Record], timed: Sequence[Record], due: Sequence[Record]) -> Judged:
    """One objective over one sample, whose records are as `loadrig.analysis.selection` has them."""
    if one.q is None:
        late = sum(record.outcome == "not_run" for record in due)
        k, n = sum(record.outcome == "failed" for record in asked) + late, len(asked) + late
        return Judged(one.name, one.limit, of_share(one.limit, k, n), None, wilson(k, n))
    good, ages = times_of(due if one.measure == "scheduled" else timed, one.measure)
    within, n = sum(found <= one.limit for found in good), len(good) + len(ages)
    return Judged(one.name, one.limit, of_quantile(one.q, within, n), quantile(good, one.q, beyond=ages), None)


def meets(record: Record, objectives: Iterable[Objective]) -> bool:
    """The trial was answered, and within every limit that can be put to one trial."""
    limits: dict[str, float] = {}
    for one in objectives:
        if one.q is not None:
            limits[one.measure] = max(limits.get(one.measure, 0.0), one.limit)
    values = ((measure(name).value(record), limit) for name, limit in limits.items())
    return record.outcome == "answered" and all(value is None or value <= limit for value, limit in values)


def good_share(records: Iterable[Record], objectives: Sequence[Objective]) -> float | None:
    """Of timed successes, the share that meets the objectives; None without objectives or successes."""
    good = [meets(record, objectives) for record in records if succeeded(record)]
    return sum(good) / len(good) if good and objectives else None
