"""Accuracy by k, and whether more passages help at first and hurt in the end: an inverted U.

Looked for in every family of arms that differ in k alone and have three or more of it: the k with the most right
answers is neither the smallest nor the largest, and the fall from it to the largest is beyond noise. By first answers,
over the questions that all arms of the family have; of two k with as many right the smaller. p is McNemar's exact; as
the best k is chosen after the fact, it counts once for every k it could have been, and then Holm's adjustment holds
over the run's families. (That context can be too wide: Yu, Xu, Akkiraju, arXiv:2409.01666.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.experiments.cells import Cell, families
from loadrig.analysis.experiments.words import CURVES, word
from loadrig.analysis.selection import grouped
from loadrig.statistics.clustered import DRAWS, Draws, Estimate, mean
from loadrig.statistics.paired import Paired, mcnemar
from loadrig.statistics.power import detectable
from loadrig.statistics.several import holm


@dataclass(frozen=True, slots=True)
class Point:
    """One arm of a family: `right` of the family's questions."""

    k: int
    arm: str
    right: int


@dataclass(frozen=True, slots=True)
class Curve:
    """Accuracy over k of one family and model, over `n` questions; `points` by k.

    `rise`: questions that the smallest k got right and `best` did not (lost), and the other way (won); `fall`: the same
    from `best` to the largest k, `change` that difference as a share, with its interval; None where `best` is itself
    that end. `found`: an inverted U. `detectable`: the smallest fall that n questions show in four of five cases at the
    level tested here, all that differ going one way.
    """

    model: str
    kind: str
    n: int
    points: tuple[Point, ...]
    best: int
    rise: Paired | None
    fall: Paired | None
    change: Estimate | None
    adjusted_p: float = 1.0
    found: bool = False
    detectable: float | None = None


def curves(every: Iterable[Cell], draws: Draws = DRAWS) -> tuple[Curve, ...]:
    """One for every family with three or more k."""
    several = [of for family in families(every) for of in grouped((cell.others("k"), cell) for cell in family).values()]
    rows = [curve for of in several if (curve := _curve(of, draws)) is not None]
    adjusted = holm([1.0 if row.fall is None else min(1.0, row.fall.p * (len(row.points) - 2)) for row in rows])
    return tuple(_judged(row, p, len(rows)) for row, p in zip(rows, adjusted, strict=True))


def _curve(family: Sequence[Cell], draws: Draws) -> Curve | None:
    by_k = {int(cell.options["k"]): cell for cell in family if cell.options.get("k", "").isdigit()}
    of = [by_k[k] for k in sorted(by_k)]
    common = [question for question in of[0].right if all(question in cell.right for cell in of)] if of else []
    if len(of) < 3 or not common:
        return None
    verdicts = {k: {question: by_k[k].right[question] for question in common} for k in sorted(by_k)}
    points = tuple(Point(k, by_k[k].arm, sum(found.values())) for k, found in verdicts.items())
    best, last = max(points, key=lambda point: (point.right, -point.k)).k, points[-1].k
    return Curve(
        model=of[0].model,
        kind=of[0].kind,
        n=len(common),
        points=points,
        best=best,
        rise=None if best == points[0].k else mcnemar(verdicts[points[0].k], verdicts[best]),
        fall=None if best == last else mcnemar(verdicts[best], verdicts[last]),
        change=None if best == last else mean(_change(verdicts[best], verdicts[last]), draws),
    )


def _change(a: Mapping[str, bool], b: Mapping[str, bool]) -> dict[str, list[float]]:
    return {question: [float(b[question]) - float(a[question])] for question in a}


def _judged(row: Curve, adjusted: float, rows: int) -> Curve:
    inside = row.rise is not None and row.change is not None
    return replace(
        row,
        adjusted_p=adjusted,
        found=inside and row.change is not None and word(row.change, adjusted, CURVES) == "lower",
        detectable=detectable(row.n, alpha=CURVES / rows / (len(row.points) - 2)),
    )
