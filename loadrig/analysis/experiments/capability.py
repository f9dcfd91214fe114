"""Models of unlike capability: what a wide context does to each, and between which two that changes.

Narrow is the retrieval arm of the smallest k, wide are full context, the agent and the retrieval arm of the largest k
(of each the first that the plan lists, the two retrieval arms alike in all else). For each model the difference wide -
narrow is taken over the questions that both have, by first answers, of all questions and of supersession: interval a
bootstrap over questions, p McNemar's exact, Holm over all of them. Models stand by their narrow accuracy, the weakest
first: what a model can do with little to read. A threshold lies between two neighbours whose finding differs, or, where
neither is beyond noise, whose differences have unlike signs. As a finding beside none is no finding about the two, the
change from one model to the other is tested itself: interval and permutation over questions, Holm over all thresholds.

Tokens of two models are never held against one another: only right answers are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Literal

from loadrig.analysis.compare.words import Word
from loadrig.analysis.experiments.cells import Cell
from loadrig.analysis.experiments.words import CAPABILITY, Effect, word, worded
from loadrig.analysis.selection import ALL, grouped
from loadrig.statistics.clustered import DRAWS, Draws, Estimate, mean, mean_difference
from loadrig.statistics.keyed import single_each
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.power import detectable
from loadrig.statistics.several import holm

CATEGORIES = (ALL, "supersession")
WIDE = ("full_context", "agentic")


@dataclass(frozen=True, slots=True)
class ModelGap:
    """What the wide arm gets right of `n` questions less what the narrow one does, of one model; shares of 1."""

    model: str
    n: int
    narrow: float
    wide: float
    gap: Estimate
    p: float
    adjusted_p: float = 1.0
    word: Word = "inside noise"
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """Two neighbouring models between which the `finding` or, without one, the `sign` changes. `change`: the gap of
    `above` less that of `below`, over the questions of both."""

    below: str
    above: str
    by: Literal["finding", "sign"]
    change: Effect


@dataclass(frozen=True, slots=True)
class Capability:
    """One wide arm against the narrow one, in a category: `models` from the weakest on; no `thresholds`: none seen."""

    category: str
    narrow: str
    wide: str
    models: tuple[ModelGap, ...]
    thresholds: tuple[Threshold, ...] = ()


Changes = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Row:
    """A model's gap with each question's own, +1 to -1."""

    gap: ModelGap
    changes: Changes


def capability(every: Iterable[Cell], draws: Draws = DRAWS) -> tuple[Capability, ...]:
    """Of every wide arm and category with one model or more; nothing without a retrieval arm."""
    cells = {(cell.model, cell.arm): cell for cell in every}
    models = list(dict.fromkeys(model for model, _ in cells))
    narrow, wide = _arms(list(cells.values()))
    order = sorted((m for m in models if (m, narrow) in cells), key=lambda m: _share(cells[m, narrow].right.values()))
    groups = []
    for arm, category in product(wide, CATEGORIES):
        found = (_row(cells[model, narrow], cells.get((model, arm)), category, draws) for model in order)
        groups.append((category, arm, [row for row in found if row is not None]))
    gaps = iter(_judged([row.gap for *_, rows in groups for row in rows]))
    told = [(category, arm, [replace(row, gap=next(gaps)) for row in rows]) for category, arm, rows in groups if rows]
    between = [list(_thresholds(rows, draws)) for *_, rows in told]
    effects = iter(worded([one.change for found in between for one in found], CAPABILITY))
    return tuple(
        Capability(
            category, narrow, arm, tuple(row.gap for row in rows),
            tuple(replace(one, change=next(effects)) for one in found),
        )
        for (category, arm, rows), found in zip(told, between, strict=True)
    )  # fmt: skip


def _arms(cells: Sequence[Cell]) -> tuple[str, list[str]]:
    """The narrow arm's name and those of the wide ones."""
    retrieval = [cell for cell in cells if cell.kind == "rag" and cell.options.get("k", "").isdigit()]
    if not retrieval:
        return "", []
    alike = grouped((cell.others("k"), cell) for cell in retrieval)
    family = sorted(alike[retrieval[0].others("k")], key=lambda cell: int(cell.options["k"]))
    first = {kind: next((cell.arm for cell in cells if cell.kind == kind), None) for kind in WIDE}
    widest = family[-1].arm if family[-1].arm != family[0].arm else None
    return family[0].arm, [arm for arm in (widest, *first.values()) if arm is not None]


def _row(narrow: Cell, wide: Cell | None, category: str, draws: Draws) -> _Row | None:
    if wide is None:
        return None
    common = [
        question
        for question in narrow.right
        if question in wide.right and category in (ALL, narrow.side.questions[question][0].category)
    ]
    a, b = ({question: of.right[question] for question in common} for of in (narrow, wide))
    changes = {question: float(b[question]) - float(a[question]) for question in common}
    test, gap = mcnemar(a, b), mean(single_each(changes), draws)
    if test is None or gap is None:
        return None
    return _Row(ModelGap(narrow.model, test.n, test.right_a / test.n, test.right_b / test.n, gap, test.p), changes)


def _judged(gaps: Sequence[ModelGap]) -> list[ModelGap]:
    level = CAPABILITY / max(1, len(gaps))
    return [
        replace(gap, adjusted_p=p, word=word(gap.gap, p, CAPABILITY), detectable=detectable(gap.n, alpha=level))
        for gap, p in zip(gaps, holm([gap.p for gap in gaps]), strict=True)
    ]


def _thresholds(rows: Sequence[_Row], draws: Draws) -> Iterator[Threshold]:
    for below, above in pairwise(rows):
        first, second = below.gap, above.gap
        by: Literal["finding", "sign"] = "finding" if first.word != second.word else "sign"
        if by == "sign" and first.gap.value * second.gap.value >= 0:
            continue
        change = mean_difference(single_each(below.changes), single_each(above.changes), draws)
        if change is not None:
            yield Threshold(first.model, second.model, by, Effect(change))


def _share(verdicts: Iterable[bool]) -> float:
    found = list(verdicts)
    return sum(found) / len(found) if found else 0.0
