"""Times, tokens, money, failures and recall of two sides, each over the questions that both have.

Times are those of timed trials, stage by stage; a trial that did not succeed ranks beyond every success, so that no
side gets faster by failing. Each measure has three figures: p50 and p95 over all trials, and the shift of a typical
question, which sees what all questions have in common. Tokens, money, failures and recall are means over questions, all
stages together. A figure that cannot be compared says why, and has no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.bill import currency_of
from loadrig.analysis.compare.sides import Side, stage_pairs
from loadrig.analysis.compare.words import Word, word
from loadrig.analysis.load import stage_loads
from loadrig.analysis.retrieval import credited, has_recall
from loadrig.analysis.safeguards.crediting import unlike
from loadrig.analysis.selection import grouped
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.measures.recall import recall
from loadrig.statistics.clustered import Difference, Draws, Estimate, mean_difference, mean_ratio
from loadrig.statistics.quantiles import quantile_difference
from loadrig.statistics.several import holm
from loadrig.statistics.shift import shift
from loadrig.words.record import Record, succeeded

TIMES = ("scheduled", "ttft", "ttfat", "service")
Values = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both sides. `ns`: `unit` of times; `question`: the `kind` of a shift of the median over questions.

    `difference` is b - a over its n questions, None when it is `refused` for the reason given; infinite values lie
    beyond every success and are null in JSON. `ratio`: b / a. `n_a` and `n_b`: trials, of which `ok` succeeded.
    `client_bound`: a stage of either side was the rig's; None: not checked, or no time.
    """

    name: str
    kind: str
    unit: str
    stage: str | None
    difference: Difference | None
    ratio: Estimate | None = None
    refused: str | None = None
    ok_a: int = 0
    n_a: int = 0
    ok_b: int = 0
    n_b: int = 0
    client_bound: bool | None = None
    adjusted_p: float = 1.0
    word: Word = "inside noise"


def bounds(run: RunFolder) -> dict[str, bool | None]:
    """Of each stage, whether the rig was the bottleneck; None where that is not known."""
    return {stage.stage: stage.client_bound for stage in stage_loads(run)}


def figures(
    a: Side, b: Side, marks: tuple[dict[str, bool | None], dict[str, bool | None]], draws: Draws
) -> list[Figure]:
    """Every figure that both sides have, and those that are refused."""
    found = [
        row
        for stages in stage_pairs(a, b)
        for name in TIMES
        for row in _times(name, (a, b), stages, [mark.get(of) for mark, of in zip(marks, stages, strict=True)], draws)
    ]
    return [*found, *_means(a, b, draws)]


def worded(rows: Sequence[Figure]) -> list[Figure]:
    """The figures of a whole comparison with their adjusted p and their word."""
    tested = [row for row in rows if row.difference is not None]
    adjusted = iter(holm([row.difference.p for row in tested if row.difference is not None]))
    return [
        row
        if row.difference is None
        else replace(row, adjusted_p=(p := next(adjusted)), word=word(row.difference, p, "figures"))
        for row in rows
    ]


def _times(
    name: str, sides: tuple[Side, Side], stages: tuple[str, str], bound: Sequence[bool | None], draws: Draws
) -> Iterator[Figure]:
    records = [
        [r for r in (side.due if name == "scheduled" else side.timed) if r.stage == stage]
        for side, stage in zip(sides, stages, strict=True)
    ]
    a, b = (ranked(of, name) for of in records)
    (ok_a, n_a), (ok_b, n_b) = (_counts(of) for of in (a, b))
    if not ok_a + ok_b:
        return
    for kind, difference in (
        ("p50", quantile_difference(a, b, 0.5, draws)),
        ("p95", quantile_difference(a, b, 0.95, draws)),
        ("question", shift(a, b, draws)),
    ):
        if difference is not None:
            yield Figure(
                name, kind, "ns", stages[0] if stages[0] == stages[1] else " / ".join(stages), difference,
                ok_a=ok_a, n_a=n_a, ok_b=ok_b, n_b=n_b, client_bound=_either(bound),
            )  # fmt: skip


def ranked(records: Iterable[Record], name: str) -> Values:
    """Times (ns) by question, infinite where the trial did not succeed."""
    value = measure(name).value
    found = ((r.question, value(r) if succeeded(r) else math.inf) for r in records)
    return grouped((question, float(time)) for question, time in found if time is not None)


def _counts(values: Values) -> tuple[int, int]:
    every = [value for of in values.values() for value in of]
    return sum(map(math.isfinite, every)), len(every)


def _either(marks: Sequence[bool | None]) -> bool | None:
    return True if any(marks) else None if None in marks else False


def _means(a: Side, b: Side, draws: Draws) -> Iterator[Figure]:
    models = None if a.model == b.model else "models count tokens differently: compare them by cost"
    currencies = currency_of(a.run), currency_of(b.run)
    money = None if currencies[0] == currencies[1] else f"{currencies[0]} and {currencies[1]} are two currencies"
    for name, kind, unit, value, refused in (
        ("tokens_in", "mean", "tokens", measure("tokens_in").value, models),
        ("tokens_out", "mean", "tokens", measure("tokens_out").value, models),
        ("cost", "mean", currencies[0] or "cost", measure("cost").value, money),
        ("failed", "share", "share", lambda record: float(record.outcome == "failed"), None),
        ("unanswered", "share", "share", lambda record: float(record.outcome == "unanswered"), None),
    ):  # fmt: skip
        yield from _mean(Figure(name, kind, unit, None, None, refused=refused), (a, b), (value, value), draws)
    if all(any(r.retrieved or any(turn.tool_calls for turn in r.turns) for r in side.asked) for side in (a, b)):
        values, rule = (_recall(a), _recall(b)), unlike(a.run, b.run)
        yield from _mean(Figure("recall", "mean", "share", None, None, refused=rule), (a, b), values, draws)


Value = Callable[[Record], float | None]


def _mean(empty: Figure, sides: tuple[Side, Side], values: tuple[Value, Value], draws: Draws) -> Iterator[Figure]:
    a, b = (
        grouped((r.question, found) for r in side.asked if (found := value(r)) is not None)
        for side, value in zip(sides, values, strict=True)
    )
    if not (a.keys() & b.keys()):
        return
    n_a, n_b = (sum(map(len, of.values())) for of in (a, b))
    row = replace(empty, ok_a=n_a, n_a=len(sides[0].asked), ok_b=n_b, n_b=len(sides[1].asked))
    if empty.refused is not None:
        yield row
        return
    ratio = mean_ratio(a, b, draws) if empty.kind == "mean" else None
    yield replace(row, difference=mean_difference(a, b, draws), ratio=ratio)


def _recall(side: Side) -> Value:
    def value(record: Record) -> float | None:
        question = side.run.questions.get(record.question)
        if question is None or not has_recall(record):
            return None
        return recall(credited(record), question.gold)

    return value
