"""Paired tests of a study: each arm against the narrowest one of its run, and each arm against itself in another run.

McNemar's exact test over the questions that both sides were asked, by the first answer to each, with Holm's adjustment
over the family: the arms of one model in one run, or of one model in two runs. The narrowest arm is the one that was
fixed beforehand; the arm with the most right answers, which would flatter, is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.compare.words import Word
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, listed, p_told, points
from loadrig.statistics.groups import upper_bound
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.power import ALPHA, detectable, fewest_one_way
from loadrig.statistics.several import holm


@dataclass(frozen=True, slots=True)
class PairTest:
    """`right` of the `n` questions of `category` in `arm`, `right_against` in `against`; `lost` are right in the latter
    only, `won` in the former only. `tests`: how many the family has. `detectable`: the smallest difference (share of
    questions) that n questions show four times in five at this level, all going one way; None: none. `at_most`: where
    no question differs, the share that could (one-sided 95 %)."""

    key: str
    scope: str
    model: str
    arm: str
    against: str
    category: str
    n: int
    right: int
    right_against: int
    lost: tuple[str, ...]
    won: tuple[str, ...]
    p: float
    p_holm: float = 1.0
    tests: int = 1
    word: Word = "inside noise"
    detectable: float | None = None
    at_most: float | None = None


def paired(
    first: Mapping[str, bool], second: Mapping[str, bool], *, key: str, names: Sequence[str], category: str
) -> PairTest | None:
    """`second` against `first`; `names`: scope, model, arm, against. None when no question is in both."""
    found = mcnemar(first, second)
    if found is None:
        return None
    scope, model, arm, against = names
    return PairTest(
        key, scope, model, arm, against, category,
        n=found.n, right=found.right_b, right_against=found.right_a, lost=found.lost, won=found.won, p=found.p,
    )  # fmt: skip


def adjusted(family: Sequence[PairTest]) -> tuple[PairTest, ...]:
    """The tests of one family, each with its adjusted p, its word, and what could have been seen."""
    level = ALPHA / max(1, len(family))
    return tuple(
        replace(
            one,
            p_holm=p,
            tests=len(family),
            word="inside noise" if p > ALPHA else "higher" if one.right > one.right_against else "lower",
            detectable=detectable(one.n, alpha=level),
            at_most=None if one.lost or one.won else upper_bound(0, one.n),
        )
        for one, p in zip(family, holm([one.p for one in family]), strict=True)
    )


def arms_tested(part: Part, category: str) -> Iterator[tuple[PairTest, ...]]:
    """A family a model: its grounded arms against the narrowest one."""
    if len(part.arms) < 2:
        return
    base, *others = part.arms
    for model in part.models:
        first = part.firsts(base, model, category)
        found = (
            paired(first, part.firsts(arm, model, category), key=f"arms/{part.name}/{model}/{arm}/{category}",
                   names=(part.name, model, arm, base), category=category)
            for arm in others
        )  # fmt: skip
        family = adjusted([one for one in found if one is not None])
        if family:
            yield family


def runs_tested(before: Part, after: Part, category: str) -> Iterator[tuple[PairTest, ...]]:
    """A family a model: each arm in the one run against itself in the other, over the questions of both."""
    scope = f"{before.name} -> {after.name}"
    for model in before.models:
        found = (
            paired(before.firsts(arm, model, category), after.firsts(arm, model, category),
                   key=f"runs/{before.name}/{after.name}/{model}/{arm}/{category}",
                   names=(scope, model, arm, before.name), category=category)
            for arm in before.arms
        )  # fmt: skip
        family = adjusted([one for one in found if one is not None])
        if family:
            yield family


def told(family: Sequence[PairTest]) -> Iterator[Finding]:
    """Sentences on one family: each difference that passes, then all others together."""
    for one in (one for one in family if one.word != "inside noise"):
        change = 100 * abs(one.right - one.right_against) / one.n
        yield Finding(
            f"{one.scope}, {one.model}, {one.category}: {one.arm} is {one.word} than {one.against} by {change:.1f} "
            f"points, {one.right}/{one.n} against {one.right_against}/{one.n} (exact McNemar p {p_told(one.p)}, "
            f"{p_told(one.p_holm)} after Holm over {one.tests} tests)",
            (one.key,),
            "result",
        )
    quiet = [one for one in family if one.word == "inside noise"]
    if quiet:
        yield _quiet(quiet)


def _quiet(quiet: Sequence[PairTest]) -> Finding:
    n, first = max(one.n for one in quiet), quiet[0]
    moved = [one for one in quiet if one.lost or one.won]
    where = f"{first.scope}, {first.model}, {first.category}, against {first.against}"
    if moved:
        counts = [
            f"{one.arm} {one.right}/{one.n} against {one.right_against}/{one.n} (p {p_told(one.p)}, Holm "
            f"{p_told(one.p_holm)})"
            for one in sorted(moved, key=lambda one: one.p)
        ]
        said = f"{listed(counts, 3)}: inside noise at n = {n}, exact McNemar"
        most = max(max(len(one.lost), len(one.won)) for one in moved)
        if most < fewest_one_way():
            said += f"; {fewest_one_way()} questions must differ one way for p .05, {most} do at most"
        if len(quiet) > len(moved):
            said += f"; {len(quiet) - len(moved)} more do not differ in any question"
    else:
        said = (
            f"{listed([f'{one.arm} {one.right}/{one.n}' for one in quiet], 8)}, each with the same questions right "
            f"as there: inside noise at n = {n}; at most {100 * max(one.at_most or 0 for one in quiet):.1f} % "
            "of such questions differ (one-sided 95 %)"
        )
    seen = min((one.detectable for one in quiet if one.detectable is not None), default=None)
    unseen = (
        "with so few questions no difference could have been seen reliably"
        if seen is None
        else f"a difference below {points(seen)} could not have been seen"
    )
    return Finding(f"{where}: {said}; {unseen}", tuple(one.key for one in quiet), "inside noise")
