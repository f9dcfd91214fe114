"""The gate of a pipeline: what b must keep beside a. A point rule, told together with whether the noise could do it.

Accuracy may fall by at most five points on the questions that both asked: 5.0 pass, 5.1 do not, counted in exact
fractions. An objective is kept when b's own quantile, failures ranked beyond every success, or share of failed trials
is within the limit, in every arm and stage compared. What could not be checked has not passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from loadrig.analysis.compare.sides import Side
from loadrig.analysis.compare.whole import Comparison, Pair
from loadrig.analysis.judging import Judged, judge
from loadrig.analysis.selection import CONTROL
from loadrig.objectives import Verdict
from loadrig.words.settings import Objective

POINTS = 5


@dataclass(frozen=True, slots=True)
class Check:
    """One rule for one arm; `passed` None: it could not be checked, which is not a pass."""

    arm: str
    rule: str
    passed: bool | None
    said: str


@dataclass(frozen=True, slots=True)
class Gate:
    """Passed when every check is."""

    passed: bool
    checks: tuple[Check, ...]


def gate(
    comparison: Comparison, sides: Sequence[tuple[Side, Side]], objectives: Sequence[Objective], *, points: bool = True
) -> Gate:
    """The checks of each pair compared: of accuracy unless `points` is False, and of the objectives. The control has no
    accuracy to keep."""
    checks = tuple(
        check
        for pair, (_, b) in zip(comparison.pairs, sides, strict=True)
        for check in (*(_accuracy(pair) if points else ()), *_objectives(b, objectives))
    )
    return Gate(bool(checks) and all(check.passed for check in checks), checks)


def within(right_a: int, right_b: int, n: int) -> bool:
    """Whether b is right on at most five points fewer of n questions than a, in exact arithmetic."""
    return Fraction(100 * (right_a - right_b), n) <= POINTS


def _accuracy(pair: Pair) -> Iterator[Check]:
    if CONTROL in (pair.arm_a, pair.arm_b):
        return
    rule, row = f"accuracy falls by at most {POINTS} points", pair.accuracy
    if row is None:
        yield Check(pair.arm_b, rule, None, "not checked: no question can be graded on both sides")
    elif pair.unasked:
        said = f"not checked: {len(pair.unasked)} questions of a were planned in b and not asked"
        yield Check(pair.arm_b, rule, None, said)
    else:
        points = 100 * (row.right_b - row.right_a) / row.n
        noise = f"inside noise at n = {row.n}" if row.word == "inside noise" else f"clear of noise at n = {row.n}"
        said = f"{points:+.1f} points, {row.right_a}/{row.n} to {row.right_b}/{row.n}; {noise}"
        yield Check(pair.arm_b, rule, within(row.right_a, row.right_b, row.n), said)


def _objectives(b: Side, objectives: Sequence[Objective]) -> Iterator[Check]:
    for one in objectives:
        for stage in b.stages or ["-"]:
            sent, times, expected = ([r for r in of if r.stage == stage] for of in (b.asked, b.timed, b.due))
            found = judge(one, asked=sent, timed=times, due=expected)
            said = _share(found, stage) if one.q is None else _quantile(found, stage)
            yield Check(b.arm, f"{one.name} < {_limit(one)}", *said)


def _quantile(found: Judged, stage: str) -> tuple[bool | None, str]:
    reached = found.value
    if reached is None:
        return None, f"not checked: no trial of stage {stage} has it"
    kept = reached.value_ns is not None and reached.value_ns <= found.limit
    told = "beyond every success" if reached.value_ns is None else f"{reached.value_ns / 1e9:.3f} s"
    return kept, f"{told} in stage {stage}{_noise(found.verdict, reached.n)}"


def _share(found: Judged, stage: str) -> tuple[bool | None, str]:
    reached = found.share
    if reached is None:
        return None, f"not checked: no trial of stage {stage} was due"
    k, n = reached.k, reached.n
    return k <= found.limit * n, f"{k} of {n} in stage {stage}{_noise(found.verdict, n)}"


def _noise(verdict: Verdict, n: int) -> str:
    return f"; inside noise at n = {n}" if verdict == "undecided" else f"; clear of noise at n = {n}"


def _limit(one: Objective) -> str:
    return f"{100 * one.limit:g} %" if one.q is None else f"{one.limit / 1e9:g} s"
