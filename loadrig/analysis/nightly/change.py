"""Why a question costs another sum than it did: price, tokens, mix and failure, whose parts add up to the difference.

The cost of an asked question is one formula over groups g (arm, model, category), of which a night asked a share w:

    y = sum over g of w[g] x ((1 - f[g]) x a[g] + f[g] x b[g])

f: the share that failed; a, b: the mean cost of a trial that did not fail, and of one that did: its tokens by tariff
times that tariff's rates. Four things may change: the mix w, the failures f, the tokens, the prices. Changed one after
the other, what each is worth depends on the order, so each gets the mean over all 24 orders (Shapley 1953; Sun,
Ecological Economics 1998, 27:397, for indexes). The parts add up to the difference exactly: they are computed in
fractions and given to 12 digits, what rounding leaves going to the largest.

- A group that only one night asked keeps its own tokens and failures: that it is there is mix. So is what only one
  night's failed, or not failed, trials tell of it.
- Tokens of a tariff that only one night has (a model replaced, a prompt in another tier) are priced by its rates.
- Where a cost is not explained by rates on file, or a night's runs had several rates of one tariff, price and tokens
  cannot be told apart: then they are one part.
- The tokens of a router's arm hold what its ways are worth: more questions sent the dear way are more tokens.

Money that is unknown is in neither sum; `unknown` counts those charges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import factorial
from typing import Literal

from loadrig.analysis.bill import plain
from loadrig.analysis.nightly.digest import Cell, Part
from loadrig.analysis.nightly.tariffs import Tokens

Factor = Literal["price", "tokens", "price and tokens", "mix", "failure"]
DIGITS = 12
MOST = 0.9  # of all movement, up and down: a part that makes up so much of it is the reason
Group = tuple[str, str, str]
Tariffs = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Side:
    """A night's cells and the tariffs they name. `is_open`: some tariff had other rates in another of its runs."""

    cells: Sequence[Cell]
    tariffs: Tariffs
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a difference, in currency a question asked (decimal string)."""

    factor: Factor
    amount: str


@dataclass(frozen=True, slots=True)
class Change:
    """From `before` to `after`, currency a question asked; `difference` is the sum of `parts`, to the last digit.
    `reason`: the part that is nearly all of it, None when there are several, or none. `unknown`: charges left out."""

    before: str
    after: str
    difference: str
    parts: tuple[Share, ...]
    reason: Factor | None
    unknown: int


@dataclass(frozen=True, slots=True)
class _Mean:
    """Of one group's failed, or not failed, trials on one night: `n`, and what all of them used and cost."""

    n: int
    tokens: Mapping[str, Tokens]
    money: Fraction


@dataclass(frozen=True, slots=True)
class _Of:
    asked: int
    sound: _Mean
    broken: _Mean


def change(before: Side, after: Side) -> Change | None:
    """None when a night has no asked trial."""
    sides = (before, after)
    groups = tuple({key: _of(found) for key, found in _grouped(side.cells).items()} for side in sides)
    asked = tuple(sum(of.asked for of in side.values()) for side in groups)
    if not all(asked):
        return None
    is_open = any(side.is_open for side in sides) or any(
        Decimal(part.rest) for side in sides for cell in side.cells for part in (cell.sound, cell.broken)
    )
    factors: tuple[Factor, ...] = ("price and tokens", "mix", "failure") if is_open else (
        "price", "tokens", "mix", "failure")  # fmt: skip
    model = _Model(groups, asked, (before.tariffs, after.tariffs), is_open=is_open)
    parts = _shapley(factors, model.cost)
    first, last = model.cost(()), model.cost(factors)
    difference = _rounded(last) - _rounded(first)
    told = _told(parts, difference)
    moved = sum(abs(Decimal(part.amount)) for part in told)
    return Change(
        before=plain(_rounded(first)),
        after=plain(_rounded(last)),
        difference=plain(difference),
        parts=told,
        reason=next((one.factor for one in told if moved and abs(Decimal(one.amount)) >= Decimal(str(MOST)) * moved),
                    None),
        unknown=sum(cell.money.unknown for side in sides for cell in side.cells),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Model:
    """The formula: 0 is the night before, 1 the night after."""

    groups: tuple[Mapping[Group, _Of], ...]
    asked: tuple[int, ...]
    tariffs: tuple[Tariffs, ...]
    is_open: bool

    def cost(self, changed: Sequence[Factor]) -> Fraction:
        """Of a question asked, when of all factors these are the night after's."""
        tokens, price = ((int("price and tokens" in changed),) * 2 if self.is_open else
                         (int("tokens" in changed), int("price" in changed)))  # fmt: skip
        mix, failure = int("mix" in changed), int("failure" in changed)
        y = Fraction(0)
        for key in dict.fromkeys(key for side in self.groups for key in side):
            of = self.groups[mix].get(key)
            if of is None:
                continue
            share = self._failed(key, failure)
            a, b = (self._mean(key, what, tokens, price) for what in ("sound", "broken"))
            y += Fraction(of.asked, self.asked[mix]) * ((1 - share) * a + share * b)
        return y

    def _failed(self, key: Group, night: int) -> Fraction:
        of = self.groups[night].get(key) or self.groups[1 - night][key]
        return Fraction(of.broken.n, of.asked)

    def _mean(self, key: Group, what: str, tokens: int, price: int) -> Fraction:
        """Of one trial; of the other night where this one has none, and 0 where neither has."""
        for night in (tokens, 1 - tokens):
            of = self.groups[night].get(key)
            mean: _Mean | None = None if of is None else getattr(of, what)
            if mean is not None and mean.n:
                if self.is_open:
                    return mean.money / mean.n
                return (
                    sum((self._priced(name, used, price) for name, used in mean.tokens.items()), Fraction(0)) / mean.n
                )
        return Fraction(0)

    def _priced(self, name: str, used: Tokens, night: int) -> Fraction:
        rates = self.tariffs[night].get(name) or self.tariffs[1 - night][name]
        return sum((n * Fraction(rate) for n, rate in zip(used, rates, strict=True)), Fraction(0)) / 1_000_000


def _shapley(factors: Sequence[Factor], cost: Callable[[Sequence[Factor]], Fraction]) -> dict[Factor, Fraction]:
    """The mean over all orders of what changing a factor adds: sets of those changed before it, weighed by how many
    orders begin so."""
    n = len(factors)
    parts = dict.fromkeys(factors, Fraction(0))
    for factor in factors:
        others = [one for one in factors if one != factor]
        for size in range(n):
            weight = Fraction(factorial(size) * factorial(n - size - 1), factorial(n))
            for first in combinations(others, size):
                parts[factor] += weight * (cost((*first, factor)) - cost(first))
    return parts


def _told(parts: Mapping[Factor, Fraction], difference: Decimal) -> tuple[Share, ...]:
    rounded = {factor: _rounded(part) for factor, part in parts.items()}
    largest = max(rounded, key=lambda factor: abs(rounded[factor]))
    rounded[largest] += difference - sum(rounded.values())
    return tuple(Share(factor, plain(amount)) for factor, amount in rounded.items())


def _rounded(value: Fraction) -> Decimal:
    return Decimal(round(value * 10**DIGITS)).scaleb(-DIGITS)


def _grouped(cells: Sequence[Cell]) -> dict[Group, list[Cell]]:
    groups: dict[Group, list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.arm, cell.model, cell.category), []).append(cell)
    return groups


def _of(cells: Sequence[Cell]) -> _Of:
    return _Of(
        sum(cell.asked for cell in cells), _mean([cell.sound for cell in cells]), _mean([cell.broken for cell in cells])
    )


def _mean(parts: Sequence[Part]) -> _Mean:
    tokens: dict[str, Tokens] = {}
    for part in parts:
        for name, used in part.tokens.items():
            a, b, c, d, e = (x + y for x, y in zip(tokens.get(name, (0, 0, 0, 0, 0)), used, strict=True))
            tokens[name] = (a, b, c, d, e)
    return _Mean(sum(part.n for part in parts), tokens, sum((Fraction(part.money) for part in parts), Fraction(0)))
