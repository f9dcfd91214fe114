"""All figures that a study's sentences are made of, in one value; each has a key by which a finding names it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from loadrig.analysis.selection import ALL
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.costs import Ratio, ratios
from loadrig.analysis.study.marked import TOLD, TRAP, Cited, Cross, Marked, cited, crossed, marked
from loadrig.analysis.study.recalled import Recalled, recalled
from loadrig.analysis.study.tested import PairTest, arms_tested, runs_tested
from loadrig.analysis.study.width import Split, adjusted, splits

SUPERSESSION = "supersession"


@dataclass(frozen=True, slots=True)
class Figures:
    """`tests`: arms of a run, over all questions and over supersession, then arms of the first run in each other one
    over supersession (all questions where there are none of it)."""

    tests: tuple[PairTest, ...]
    splits: tuple[Split, ...]
    recalled: tuple[Recalled, ...]
    marked: tuple[Marked, ...]
    ratios: tuple[Ratio, ...]
    cited: tuple[Cited, ...]
    crossed: tuple[Cross, ...]


def scope(part: Part) -> str:
    """The class of question that the first research question is about; all where the run has none of it."""
    return SUPERSESSION if SUPERSESSION in part.categories else ALL


def scopes(part: Part) -> tuple[str, ...]:
    """What a run's arms are tested over: all questions, unless it has one class, and supersession."""
    return (scope(part),) if len(part.categories) < 2 else tuple(dict.fromkeys((scope(part), ALL)))


def figures(parts: Sequence[Part]) -> Figures:
    """Of all runs of a study, in its order."""
    return Figures(
        tests=tuple(chain(_arms(parts), _runs(parts))),
        splits=adjusted([split for part in parts for split in splits(part, scope(part))]),
        recalled=tuple(one for part in parts for of in ("recall", "amending") for one in recalled(part, of)),
        marked=tuple(one for part in parts for name in TOLD for one in marked(part, name, _where(part, name))),
        ratios=tuple(one for part in parts for one in ratios(part)),
        cited=tuple(one for part in parts for one in cited(part)),
        crossed=tuple(one for part in parts for one in crossed(part)),
    )


def _where(part: Part, measure: str) -> str:
    """Traps are questions of a class of their own; the other rules are told of the first research question's."""
    return ALL if measure == TRAP else scope(part)


def _arms(parts: Sequence[Part]) -> Iterable[PairTest]:
    for part in parts:
        for category in scopes(part):
            yield from chain.from_iterable(arms_tested(part, category))


def _runs(parts: Sequence[Part]) -> Iterable[PairTest]:
    first, *others = parts
    for part in others:
        category = scope(part) if scope(part) == scope(first) else ALL
        yield from chain.from_iterable(runs_tested(first, part, category))
