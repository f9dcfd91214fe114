"""The figures of several runs in columns: one table a figure, an arm and stage a row, a run a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.reports.table import NONE, amount, fraction, number, seconds, share
from loadrig.stats import Quantile, Share

Key = tuple[str, str, str | None]  # arm, model, stage


@dataclass(frozen=True, slots=True)
class Value:
    """A figure of one run: as a number (ns, tokens, a decimal string of money, a share), its n, and as it is shown."""

    number: float | int | str | None
    n: int
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One arm, and one stage where the figure is of a stage; None where a run has no such arm or stage."""

    arm: str
    model: str
    stage: str | None
    values: tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of all runs, in `unit`."""

    name: str
    unit: str
    rows: tuple[Row, ...]


def figures(summaries: Sequence[Summary]) -> tuple[Figure, ...]:
    """Every figure that some run has."""
    currencies = list(dict.fromkeys(summary.currency for summary in summaries if summary.currency))
    units = {"money": currencies[0] if len(currencies) == 1 else " or ".join(currencies) or "money"}
    found = [
        *(_figure(name, units.get(unit, unit), [_by_stage(one, of) for one in summaries]) for name, unit, of in STAGED),
        _figure("right of asked", "share", [_right(one) for one in summaries]),
        _figure("recall of gold documents", "share", [_recall(one) for one in summaries]),
    ]
    return tuple(
        figure
        for figure in found
        if any(value and value.number is not None for row in figure.rows for value in row.values)
    )


def _figure(name: str, unit: str, found: Sequence[Mapping[Key, Value]]) -> Figure:
    keys = dict.fromkeys(key for of in found for key in of)
    return Figure(name, unit, tuple(Row(*key, tuple(of.get(key) for of in found)) for key in keys))


def _by_stage(summary: Summary, of: Callable[[ArmFigures], Value]) -> dict[Key, Value]:
    return {(arm.arm, arm.model, arm.stage): of(arm) for arm in summary.arms}


def _quantile(path: str) -> Callable[[ArmFigures], Value]:
    """Of an arm's quantile, such as `ttft.successes.p50`."""
    measure, _, rest = path.partition(".")

    def of(arm: ArmFigures) -> Value:
        known = getattr(arm, measure)
        found: Quantile | None = None if known is None else attrgetter(rest)(known)
        return Value(None, 0, NONE) if found is None else Value(found.value_ns, found.n, seconds(found))

    return of


def _tokens(name: str) -> Callable[[ArmFigures], Value]:
    def of(arm: ArmFigures) -> Value:
        found: float | None = getattr(arm.tokens_per_question, name)
        return Value(found, arm.tokens_per_question.n, number(found))

    return of


def _cost(arm: ArmFigures) -> Value:
    low = ">= " if arm.cost.total.at_least or arm.cost.total.unknown else ""
    found = arm.cost.per_asked
    return Value(found, arm.cost.asked, NONE if found is None else f"{low}{amount(found)}")


def _failed(arm: ArmFigures) -> Value:
    failed = sum(of.n for of in arm.outcomes if of.outcome == "failed")
    return Value(failed / arm.cost.asked if arm.cost.asked else None, arm.cost.asked, f"{failed}/{arm.cost.asked}")


def _right(summary: Summary) -> dict[Key, Value]:
    rows = ((row.arm, row.model, row.categories[0].of_asked) for row in summary.accuracy)
    return {(arm, model, None): _share(found) for arm, model, found in rows}


def _share(found: Share | None) -> Value:
    return Value(None, 0, NONE) if found is None else Value(found.share, found.n, share(found))


def _recall(summary: Summary) -> dict[Key, Value]:
    rows = ((row.arm, row.model, row.categories[0].recall) for row in summary.recall)
    return {
        (arm, model, None): Value(found.mean, found.n, f"{fraction(found.mean)} ({found.n})")
        for arm, model, found in rows if found is not None
    }  # fmt: skip


STAGED: tuple[tuple[str, str, Callable[[ArmFigures], Value]], ...] = (
    ("TTFT p50", "ns", _quantile("ttft.successes.p50")),
    ("TTFT p95", "ns", _quantile("ttft.successes.p95")),
    ("service latency p50", "ns", _quantile("service.successes.p50")),
    ("service latency p95", "ns", _quantile("service.successes.p95")),
    ("service latency p95 with failures", "ns", _quantile("service.with_failures.p95")),
    ("scheduled latency p95 with failures", "ns", _quantile("scheduled.with_failures.p95")),
    ("failed of asked", "share", _failed),
    ("prompt tokens of a question", "tokens", _tokens("prompt")),
    ("output tokens of a question", "tokens", _tokens("output")),
    ("cost of a question asked", "money", _cost),
)
