"""The nightly report in figures: the last night, held against those before it.

It is of one kind of runs (`kinds`), that of the last run; other kinds are named. The last night is the runs that began
on the last local day on which any did. Money by local day, each trial on its own, is in `days`; what a night came to is
over its runs, also where they went on past midnight. Knows no files: digests in, frozen values out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from statistics import median_low
from typing import get_args

from loadrig.analysis.bill import Bill, Line, LineName
from loadrig.analysis.days import Nights, days_of
from loadrig.analysis.nightly import sums
from loadrig.analysis.nightly.anomalies import Finding, Judged, Measure, is_worse, judged, rule
from loadrig.analysis.nightly.change import Change, Factor, Side, change
from loadrig.analysis.nightly.digest import Billed, Cell, RunNights
from loadrig.analysis.nightly.kinds import Kind
from loadrig.analysis.nightly.standing import JUDGED, Night, Standing, latest, nights_of
from loadrig.analysis.nightly.sums import WHOLE, Row, money_of, row, rows, ttft_p95
from loadrig.analysis.nightly.usage_report import Reconciled
from loadrig.analysis.nightly.usage_report import Row as Theirs
from loadrig.analysis.nightly.usage_report import reconciled as beside
from loadrig.analysis.nightly.weeks import Weeks, weeks
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import SIMULATED
from loadrig.stats import Quantile
from loadrig.words.settings import NightlySettings

SCHEMA = 1
WEEKS = 8


@dataclass(frozen=True, slots=True)
class Told:
    """What a report is made of, besides the runs. `today`: the day in the plan's zone on which it is made; `trouble`:
    why tonight's run came to nothing; `theirs`: the provider's own usage report."""

    plan: str
    timezone: str
    settings: NightlySettings
    today: date
    trouble: str | None = None
    unreadable: tuple[str, ...] = ()
    theirs: tuple[Theirs, ...] | None = None


@dataclass(frozen=True, slots=True)
class NightLine:
    """One night of those looked back on; `whole` is None where nothing was answered, so that no cost can be taken for a
    low one. `unusual`: figures of all questions, of the last night only."""

    day: str
    standing: Standing
    troubles: tuple[str, ...]
    whole: Row | None
    ttft_p95: Quantile | None
    unusual: tuple[Measure, ...] = ()


@dataclass(frozen=True, slots=True)
class FromTo:
    """From an earlier night that counts to the last one."""

    before: str
    after: str
    change: Change


@dataclass(frozen=True, slots=True)
class Nightly:
    """All of it. `bill` is of the last night's runs, its lines sum to the total; `looked_back` on so many nights;
    `nights` are in order, the last night last."""

    schema: int
    plan: str
    timezone: str
    simulated: bool
    note: str | None
    of: str
    currency: str | None
    day: str
    standing: Standing
    runs: tuple[str, ...]
    trouble: str | None
    unreadable: tuple[str, ...]
    rule: str
    looked_back: int
    least: int
    findings: tuple[Finding, ...]
    whole: Row | None
    arms: tuple[Row, ...]
    models: tuple[Row, ...]
    categories: tuple[Row, ...]
    routes: tuple[Row, ...]
    bill: Bill
    nights: tuple[NightLine, ...]
    change: FromTo | None
    weeks: Weeks
    days: Nights
    changed_options: tuple[str, ...]
    other_kinds: tuple[str, ...]
    reconciled: tuple[Reconciled, ...] | None


@dataclass(frozen=True, slots=True)
class _Looked:
    """The last night and those before it that it is held against."""

    night: Night
    earlier: tuple[Night, ...]
    currency: str | None
    least: int
    _rows: dict[tuple[str, str | None, str | None], tuple[Row, Quantile | None]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def of(self, night: Night, arm: str | None, model: str | None) -> tuple[Row, Quantile | None]:
        """Row and TTFT p95 of a night, or of one arm and model of it."""
        key = (night.day, arm, model)
        if key not in self._rows:
            cells = _of_arm(night.cells, arm, model)
            self._rows[key] = row((arm, model, None, None), cells, self.currency, intervals=False), ttft_p95(cells)
        return self._rows[key]

    def value(self, measure: Measure, night: Night, arm: str | None, model: str | None) -> float | None:
        """A figure of a night; times of a client-bound one are nobody's."""
        if measure == "TTFT p95" and night.standing == "client-bound":
            return None
        return _value(measure, *self.of(night, arm, model))


def nightly(runs: Sequence[RunNights], told: Told) -> Nightly | None:
    """None when no run has a day."""
    kind = max(runs, key=lambda run: run.began_at).kind if runs else None
    mine = [run for run in runs if run.kind == kind]
    every = _nights(mine, runs, told)
    night = latest(every)
    if kind is None or night is None:
        return None
    currency = kind.currency or None
    counting = [one for one in every if one.standing in JUDGED and one.day < night.day]
    looked = _Looked(night, tuple(counting[-told.settings.nights :]), currency, told.settings.least)
    cells, findings = night.cells, tuple(_findings(looked))
    is_routed = {cell.arm for cell in cells if cell.route is not None}
    return Nightly(
        schema=SCHEMA,
        plan=told.plan,
        timezone=told.timezone,
        simulated=kind.simulated,
        note=SIMULATED if kind.simulated else None,
        of=kind.told,
        currency=currency,
        day=night.day,
        standing=night.standing,
        runs=tuple(run.run for run in night.runs),
        trouble=told.trouble,
        unreadable=told.unreadable,
        rule=rule(nights=told.settings.nights, least=told.settings.least),
        looked_back=len(looked.earlier),
        least=told.settings.least,
        findings=findings,
        whole=row(WHOLE, cells, currency) if cells else None,
        arms=rows(cells, sums.by_arm, currency),
        models=rows(cells, sums.by_model, currency),
        categories=rows(sorted(cells, key=lambda cell: cell.category), sums.by_category, currency),
        routes=rows([cell for cell in cells if cell.arm in is_routed], sums.by_route, currency),
        bill=_bill(night.runs, currency),
        nights=tuple(_line(one, currency, findings if one is night else ()) for one in _shown(every, night, told)),
        change=_since(looked),
        weeks=weeks((cell for run in mine for cell in run.cells), currency, last=WEEKS),
        days=days_of(mine),
        changed_options=changed_options(mine),
        other_kinds=tuple(_others(runs, kind)),
        reconciled=None if told.theirs is None else beside(_billed(runs, kind), told.theirs),
    )


def _billed(runs: Iterable[RunNights], kind: Kind) -> list[Billed]:
    """All that one provider may have billed, whatever the kind: no simulated money beside real, nor two currencies."""
    alike = [run for run in runs if (run.kind.simulated, run.kind.currency) == (kind.simulated, kind.currency)]
    return [one for run in alike for one in run.billed]


def _nights(mine: Sequence[RunNights], runs: Sequence[RunNights], told: Told) -> tuple[Night, ...]:
    """A day on which runs of another kind began is no missed one."""
    began = {run.night for run in runs}
    found = nights_of(mine, expected=told.settings.expected, until=told.today - timedelta(days=1))
    return tuple(night for night in found if night.runs or night.day not in began)


def _shown(every: Sequence[Night], night: Night, told: Told) -> Sequence[Night]:
    """The last nights and, after the last one, those that were missed since."""
    before = [one for one in every if one.day < night.day]
    return [*before[-told.settings.nights :], night, *(one for one in every if one.day > night.day)]


def _line(night: Night, currency: str | None, findings: Iterable[Finding]) -> NightLine:
    whole = row(WHOLE, night.cells, currency) if night.cells else None
    is_shown = whole is not None and whole.cost.answered > 0
    return NightLine(
        day=night.day,
        standing=night.standing,
        troubles=night.troubles,
        whole=whole if is_shown else None,
        ttft_p95=ttft_p95(night.cells) if is_shown else None,
        unusual=tuple(one.judged.measure for one in findings if one.arm is None),
    )


def _bill(runs: Iterable[RunNights], currency: str | None) -> Bill:
    lines = [line for run in runs for line in run.lines]
    return Bill(
        tuple(
            Line(name, money_of((line.money for line in lines if line.name == name), currency))
            for name in get_args(LineName)
        ),
        money_of((line.money for line in lines), currency),
    )


def _findings(looked: _Looked) -> Iterable[Finding]:
    """Of all questions first, then of each arm and model."""
    if looked.night.standing not in JUDGED:
        return
    names: list[tuple[str | None, str | None]] = [(None, None)]
    arms = list(dict.fromkeys((cell.arm, cell.model) for cell in looked.night.cells))
    for arm, model in [*names, *(arms if len(arms) > 1 else ())]:
        for measure in get_args(Measure):
            value = looked.value(measure, looked.night, arm, model)
            known = (looked.value(measure, night, arm, model) for night in looked.earlier)
            found = judged(measure, value, [of for of in known if of is not None], least=looked.least)
            if found is not None and found.is_unusual:
                yield _finding(looked, found, arm, model)


def _finding(looked: _Looked, found: Judged, arm: str | None, model: str | None) -> Finding:
    finding = Finding(arm, model, found, worse=is_worse(found))
    if found.measure != "cost per question":
        return finding
    typical = _typical(looked, arm, model)
    moved = change(_side(typical, arm, model), _side(looked.night, arm, model))
    cause: Factor | None = None if moved is None else moved.reason
    return replace(finding, cause=cause, against=typical.day)


def _typical(looked: _Looked, arm: str | None, model: str | None) -> Night:
    """The latest of the earlier nights whose cost is the lower median."""
    costs = [
        (value, night)
        for night in looked.earlier
        if (value := looked.value("cost per question", night, arm, model)) is not None
    ]
    middle = median_low(value for value, _ in costs)
    return next(night for value, night in reversed(costs) if value == middle)


def _since(looked: _Looked) -> FromTo | None:
    """From the last night before that counts, where the last night's cost can be judged."""
    if not looked.earlier or looked.night.standing not in JUDGED:
        return None
    before = looked.earlier[-1]
    found = change(_side(before), _side(looked.night))
    return None if found is None else FromTo(before.day, looked.night.day, found)


def _side(night: Night, arm: str | None = None, model: str | None = None) -> Side:
    every = [(name, tuple(rates)) for run in night.runs for name, rates in run.tariffs.items()]
    tariffs = dict(every)
    return Side(_of_arm(night.cells, arm, model), tariffs, is_open=any(tariffs[name] != rates for name, rates in every))


def _of_arm(cells: Iterable[Cell], arm: str | None, model: str | None) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells if arm is None or (cell.arm, cell.model) == (arm, model))


def _value(measure: Measure, of: Row, ttft: Quantile | None) -> float | None:
    values: dict[Measure, Callable[[], float | None]] = {
        "cost per question": lambda: None if of.cost.per_asked is None else float(of.cost.per_asked),
        "share failed": lambda: of.failed_share,
        "tokens a question": lambda: of.tokens,
        "TTFT p95": lambda: None if ttft is None else ttft.value_ns,
        "share right": lambda: of.right,
    }
    return values[measure]()


def changed_options(runs: Iterable[RunNights]) -> tuple[str, ...]:
    """Arms whose options are not the same in all of the runs."""
    options = grouped((name, told) for run in runs for name, told in run.options.items())
    return tuple(name for name, found in options.items() if len(set(found)) > 1)


def _others(runs: Iterable[RunNights], kind: Kind) -> Iterable[str]:
    groups = grouped((run.kind, run) for run in runs if run.kind != kind)
    for other, found in sorted(groups.items()):
        days = sorted(run.night for run in found)
        what = "simulated run" if other.simulated else "run"
        yield f"{len(found)} {what}{'s' if len(found) > 1 else ''} {other.told}, {days[0]} to {days[-1]}"
