"""What a question costs in each arm, before any is asked: real prompts of sampled questions, counted, none sent.

    prompt tokens   of the sample by the local estimator x `TOKEN_RATIO`, the model's over ours where none was counted
    without cache   prompt x input + `OUTPUT_TOKENS` x output
    on a hit        what the arm asks to keep x read + the rest x input + output; on a miss x write instead
    hit share       1 - e^(-rate x lifetime): questions come independently of one another, evenly over day and night,
                    each use renews the lifetime, and callers with prefixes of their own share the volume evenly.
                    Questions that come in bursts, or by day alone, hit more often
    crossover       questions a day above which a cache is cheaper than none (`loadrig.cost.pays_above`), of the better
                    of the two lifetimes

What a price table does not have is None. A static part below the model's least is cached by nobody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import msgspec

from loadrig.cost import Price, Prices, Rates, pays_above
from loadrig.execution.estimate import OUTPUT_TOKENS, TOKEN_RATIO, cached, writing
from loadrig.execution.sampling import Sample
from loadrig.words.prompt import Lifetime
from loadrig.words.record import Usage

DAY_S, DAYS_A_MONTH = 86_400, 30
LIFETIME_S: dict[Lifetime, int] = {"5m": 300, "1h": 3_600}


@dataclass(frozen=True, slots=True)
class Cached:
    """An arm with the static part of its prompt cached for a lifetime. `hit_share` and `expected` are None where the
    volume was not told."""

    lifetime: Lifetime
    hit: Decimal
    miss: Decimal
    hit_share: float | None
    expected: Decimal | None


@dataclass(frozen=True, slots=True)
class ArmCost:
    """A question in an arm. Tokens are the model's, estimated; `static_tokens` are those it asks to keep. Money is in
    the table's currency; `off`: without a cache; `expected`: at the volume told in the cheapest way, without a volume
    as `off`; None: the model has no price, or the prompt is `too_large` for its window. `prefixes`: how many of them
    share the volume. `guessed`: by the arm's own guess."""

    arm: str
    kind: str
    prompt_tokens: int
    static_tokens: int
    guessed: bool
    off: Decimal | None
    expected: Decimal | None
    cached: tuple[Cached, ...] = ()
    prefixes: int = 1
    too_large: bool = False


@dataclass(frozen=True, slots=True)
class Market:
    """A model at a table's prices on a day, and the tokens that its window takes; asked so many questions a day; None:
    not told."""

    model: str
    prices: Prices
    day: date
    window: int
    per_day: float | None = None

    def money(self, usage: Usage) -> Decimal | None:
        """What an exchange costs; None: no price."""
        return self.prices.cost(self.model, usage, self.day).amount

    @property
    def price(self) -> Price | None:
        """The model's row of the table; None: no price."""
        return self.prices.price(self.model, self.day)


def costed(samples: Sequence[Sample], market: Market) -> tuple[ArmCost, ...]:
    """The cost of a question in each arm sampled."""
    return tuple(_cost(sample, market) for sample in samples)


def crossover_per_day(cost: ArmCost, market: Market) -> float | None:
    """Questions a day above which what an arm asks to keep is cheaper kept than not, in the better of two lifetimes;
    None: nothing is, no price, or never. Prices are those of a prompt of this size."""
    tokens = cost.static_tokens
    uncached, read, short, long = (
        market.money(usage)
        for usage in (
            Usage(input=tokens, output=0), Usage(input=0, cache_read=tokens, output=0),
            writing(tokens, "5m"), writing(tokens, "1h"),
        )
    )  # fmt: skip
    if not tokens or uncached is None or read is None or short is None or long is None:
        return None
    rates = Rates(uncached, Decimal(0), short, long, read)
    above = {lifetime: pays_above(rates, lifetime) for lifetime in LIFETIME_S}
    found = [one * cost.prefixes * DAY_S / LIFETIME_S[lifetime] for lifetime, one in above.items() if one is not None]
    return min(found, default=None)


def keeps(each: Decimal, per_day: float, money_per_month: Decimal) -> bool:
    """Whether so many questions at that cost stay within the money for a month of 30 days."""
    return each * Decimal(repr(per_day)) * DAYS_A_MONTH <= money_per_month


def hit_share(per_day: float, lifetime: Lifetime) -> float:
    """The share of requests that find the cache alive."""
    return 1 - math.exp(-per_day / DAY_S * LIFETIME_S[lifetime])


def _cost(sample: Sample, market: Market) -> ArmCost:
    prompt = round(sample.tokens * TOKEN_RATIO)
    if prompt + OUTPUT_TOKENS > market.window:
        return ArmCost(sample.arm, sample.kind, prompt, 0, sample.guessed, None, None, too_large=True)
    off = market.money(Usage(input=prompt, output=OUTPUT_TOKENS))
    kept = cached(sample, TOKEN_RATIO, market.price)
    if kept is None or kept.parted is not None:
        return ArmCost(sample.arm, sample.kind, prompt, 0, sample.guessed, off, off)
    static = round(kept.mean_tokens * TOKEN_RATIO)
    each = replace(market, per_day=None if market.per_day is None else market.per_day / kept.prefixes)
    ways = tuple(one for lifetime in LIFETIME_S if (one := _cached(prompt, static, lifetime, each)))
    told = [one.expected for one in ways if one.expected is not None]
    expected = None if off is None else min([off, *told])
    return ArmCost(sample.arm, sample.kind, prompt, static, sample.guessed, off, expected, ways, kept.prefixes)


def _cached(prompt: int, static: int, lifetime: Lifetime, market: Market) -> Cached | None:
    hit = market.money(Usage(input=prompt - static, cache_read=static, output=OUTPUT_TOKENS))
    miss = market.money(msgspec.structs.replace(writing(static, lifetime), input=prompt - static, output=OUTPUT_TOKENS))
    if hit is None or miss is None:
        return None
    share = None if market.per_day is None else hit_share(market.per_day, lifetime)
    return Cached(lifetime, hit, miss, share, None if share is None else _mean(hit, miss, share))


def _mean(hit: Decimal, miss: Decimal, share: float) -> Decimal:
    of_hits = Decimal(repr(share))
    return of_hits * hit + (1 - of_hits) * miss
