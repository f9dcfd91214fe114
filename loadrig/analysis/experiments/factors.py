"""What an option of an arm does: its main effect, and how far one option's effect hangs on another.

    effect(question)      = mean, over the pairs of arms that differ in this option alone, of value at b - value at a
    main effect           = mean over questions of it
    interaction(question) = effect where the other option is at its b - effect where it is at its a

A pair agrees in every other option, so a plan that lists all combinations gives the factorial's main effects, and one
that changes an option at a time the simple ones. Values: right or not by the first answer; the share of stale answers,
prompt tokens and time by the mean over a question's repetitions, which are one cluster. Over the questions that all
arms concerned have. Interval: bootstrap over questions; p: permutation, the sides of whole questions swapped. `a` is
"true" of a sentence or of ids, else the value that the plan lists first. `k` of more than two values is a curve, no
factor. Arms of one model only: tokens of two are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from loadrig.analysis.experiments.cells import Cell, Values, families, pairs, service, stale, tokens_in
from loadrig.analysis.experiments.words import BESIDE, INTERACTIONS, OPTIONS, Effect, worded
from loadrig.statistics.clustered import DRAWS, Draws, mean_difference
from loadrig.statistics.keyed import single_each


@dataclass(frozen=True, slots=True)
class Factor:
    """One option of one kind of arm, from its value `a` to `b`: `arms` are the pairs. `accuracy` and `stale` are
    shares, `tokens_in` tokens, `service` nanoseconds; each None where no question has it in all arms."""

    model: str
    kind: str
    option: str
    a: str
    b: str
    arms: tuple[tuple[str, str], ...]
    accuracy: Effect | None
    stale: Effect | None
    tokens_in: Effect | None
    service: Effect | None


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two options of one kind of arm: in `accuracy` a is the effect on accuracy of `option` (from `a` to `b`) where
    `other` is `other_a`, b that where it is `other_b`, and the difference of the two the interaction."""

    model: str
    kind: str
    option: str
    a: str
    b: str
    other: str
    other_a: str
    other_b: str
    accuracy: Effect


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Two values of an option, and the pairs of a family's cells that differ in it alone."""

    option: str
    a: str
    b: str
    pairs: tuple[tuple[Cell, Cell], ...]


def factors(every: Iterable[Cell], draws: Draws = DRAWS) -> tuple[Factor, ...]:
    """The main effects of all options of all families."""
    found = [one for family in families(every) for one in _contrasts(family)]
    beside = (stale, tokens_in, service)
    drawn = _enough(draws, len(found) * len(beside))
    rights = _worded([_main(one, _right, drawn) for one in found], OPTIONS, right=True)
    rest = iter(_worded([_main(one, of, drawn) for one in found for of in beside], BESIDE))
    return tuple(
        Factor(
            model=one.pairs[0][0].model,
            kind=one.pairs[0][0].kind,
            option=one.option,
            a=one.a,
            b=one.b,
            arms=tuple((x.arm, y.arm) for x, y in one.pairs),
            accuracy=accuracy,
            stale=next(rest),
            tokens_in=next(rest),
            service=next(rest),
        )
        for one, accuracy in zip(found, rights, strict=True)
    )


def interactions(every: Iterable[Cell], draws: Draws = DRAWS) -> tuple[Interaction, ...]:
    """How far the effect of one option on accuracy hangs on another, for every two options of a family."""
    two = [
        (one, other)
        for family in families(every)
        for one, other in combinations(_contrasts(family), 2)
        if one.option != other.option
    ]
    drawn = _enough(draws, len(two))
    effects = _worded([_joint(one, other, drawn) for one, other in two], INTERACTIONS, right=True)
    return tuple(
        Interaction(
            model=one.pairs[0][0].model,
            kind=one.pairs[0][0].kind,
            option=one.option,
            a=one.a,
            b=one.b,
            other=other.option,
            other_a=other.a,
            other_b=other.b,
            accuracy=effect,
        )
        for (one, other), effect in zip(two, effects, strict=True)
        if effect is not None
    )


def _contrasts(family: Sequence[Cell]) -> Iterator[_Contrast]:
    """Of every option each of its values against the first, where some pair of cells differs in nothing else."""
    for option in dict.fromkeys(name for cell in family for name in cell.options):
        values = dict.fromkeys(cell.options[option] for cell in family if option in cell.options)
        first, *others = sorted(values, key=lambda value: value != "true")
        if option == "k" and len(others) > 1:
            continue
        for value in others:
            if found := tuple(pairs(family, option, first, value)):
                yield _Contrast(option, first, value, found)


def _main(one: _Contrast, value: Callable[[Cell], Values], draws: Draws) -> Effect | None:
    a, b = (_mean([value(pair[side]) for pair in one.pairs]) for side in (0, 1))
    return _effect(a, b, draws)


def _joint(one: _Contrast, other: _Contrast, draws: Draws) -> Effect | None:
    """The effect of `one` where the other option is at its a, against where it is at its b, all else alike."""
    at: dict[str, dict[object, Values]] = {other.a: {}, other.b: {}}
    for x, y in one.pairs:
        where = x.options.get(other.option, "")
        if where in at:
            at[where][x.others(one.option, other.option)] = _minus(_right(y), _right(x))
    both = [key for key in at[other.a] if key in at[other.b]]
    a, b = (_mean([at[where][key] for key in both]) for where in (other.a, other.b))
    return _effect(a, b, draws)


def _right(cell: Cell) -> Values:
    return {question: float(right) for question, right in cell.right.items()}


def _minus(y: Values, x: Values) -> Values:
    return {question: y[question] - x[question] for question in x if question in y}


def _mean(of: Sequence[Values]) -> Values:
    """By question the mean over all of them, of the questions that all have."""
    common = [question for question in of[0] if all(question in one for one in of)] if of else []
    return {question: sum(one[question] for one in of) / len(of) for question in common}


def _effect(a: Values, b: Values, draws: Draws) -> Effect | None:
    difference = mean_difference(single_each(a), single_each(b), draws)
    return None if difference is None else Effect(difference)


def _worded(effects: Sequence[Effect | None], level: float, *, right: bool = False) -> list[Effect | None]:
    told = iter(worded([effect for effect in effects if effect is not None], level, right=right))
    return [None if effect is None else next(told) for effect in effects]


def _enough(draws: Draws, tests: int) -> Draws:
    """So many permutations that a p which Holm lets pass over all tests is more than the last one drawn."""
    return replace(draws, permutations=max(draws.permutations, math.ceil(4 * tests / INTERACTIONS)))
