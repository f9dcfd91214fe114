"""Cost of a question by arm and local day, over any number of runs.

A trial's day is the local day, in the plan's zone, of the instant it began; a trial without one (it was lost before it
was recorded) has the day `unknown`. Rows hold asked trials (measured and tail, with their retries and failures); what
else was spent (calls before the first trial, warm-up, tries asked again, judges) has rows of its own, `other`. So all
rows together are the whole bill of the runs, every charge on one day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from loadrig.analysis.accuracy import verdict
from loadrig.analysis.bill import Charge, Money, PerQuestion, charges, currency_of, money, per_question
from loadrig.analysis.routes import way_of
from loadrig.analysis.selection import arm_names, asked, grouped
from loadrig.graders.cases import judge_runs
from loadrig.log import RunFolder
from loadrig.words.record import Record

UNKNOWN = "unknown"
Key = tuple[str, str, str, str | None]  # day, arm, model, route
Told = tuple[Record, bool | None]  # a trial, and whether it was right


@dataclass(frozen=True, slots=True)
class Day:
    """One arm and model on one local day (ISO date). `way`: of one route of an arm that has several."""

    day: str
    arm: str
    model: str
    cost: PerQuestion
    way: str | None = None


@dataclass(frozen=True, slots=True)
class Nights:
    """All runs of a plan. `ways`: by day the routes of arms that send questions different ways, parts of `days`.
    `other`: money by day that no question of the plan cost; `total`: all of it."""

    simulated: bool
    runs: int
    currency: str | None
    days: tuple[Day, ...]
    arms: tuple[Day, ...]
    ways: tuple[Day, ...]
    other: tuple[tuple[str, Money], ...]
    total: Money


def local_day(began_at: str | None, zone: ZoneInfo) -> str:
    """ISO date of the wall time `began_at` (ISO, with offset) in `zone`."""
    return UNKNOWN if began_at is None else datetime.fromisoformat(began_at).astimezone(zone).date().isoformat()


def nights(runs: Iterable[RunFolder], zone: ZoneInfo) -> Nights:
    """Sums over `runs` of one plan, which are all simulated or all real and have one currency."""
    runs = list(runs)
    arms = {arm: place for place, arm in enumerate(dict.fromkeys(arm for run in runs for arm in arm_names(run)))}
    currency = next((found for run in runs if (found := currency_of(run))), None)
    sent = [(record, verdict(run, record)) for run in runs for record in asked(run)]
    routed = {record.arm for record, _ in sent if record.route is not None}
    dated: list[tuple[str, Told]] = [(local_day(of[0].began_at, zone), of) for of in sent]
    other = list(_other(runs, zone))
    everything = [charge for record, _ in sent for charge in charges(record)] + [charge for _, charge in other]
    return Nights(
        simulated=any(bool(run.manifest.get("simulated")) for run in runs),
        runs=len(runs),
        currency=currency,
        days=_days(((_key(day, of), of) for day, of in dated), arms, currency),
        arms=_days(((_key("all", of), of) for of in sent), arms, currency),
        ways=_days(((_key(day, of, way=True), of) for day, of in dated if of[0].arm in routed), arms, currency),
        other=tuple((day, money(found, currency)) for day, found in sorted(grouped(other).items())),
        total=money(everything, currency),
    )


def _days(told: Iterable[tuple[Key, Told]], arms: Mapping[str, int], currency: str | None) -> tuple[Day, ...]:
    rows = []
    for (day, arm, model, way), found in sorted(grouped(told).items(), key=lambda of: _place(of[0], arms)):
        verdicts = [passed for _, passed in found if passed is not None]
        correct = sum(verdicts) if verdicts else None
        rows.append(Day(day, arm, model, per_question((r for r, _ in found), currency, correct=correct), way))
    return tuple(rows)


def _key(day: str, of: Told, *, way: bool = False) -> Key:
    return day, of[0].arm, of[0].model, way_of(of[0]) if way else None


def _place(key: Key, arms: Mapping[str, int]) -> tuple[str, int, str, str]:
    day, arm, model, way = key
    return day, arms[arm], model, way or ""


def _other(runs: Iterable[RunFolder], zone: ZoneInfo) -> Iterator[tuple[str, Charge]]:
    for run in runs:
        warm = [(r, False) for r in run.records if r.phase == "warmup"]
        for record, superseded in [*warm, *((r, True) for r in run.superseded)]:
            for charge in charges(record, superseded=superseded):
                yield local_day(record.began_at, zone), charge
        judging = (r for judge in judge_runs(run.path) for r in (*judge.records, *judge.superseded))
        for record in (*run.probes, *judging):
            for charge in charges(record):
                yield local_day(record.began_at, zone), charge
