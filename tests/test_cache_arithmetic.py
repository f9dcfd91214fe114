"""Bills of a cache against a price table by hand: what the simulated endpoint charges, at invented prices.

A prefix of 10,000 tokens and a question of 100 behind it, 200 tokens of output, four questions: without a cache, cold
(each too early or too late for the one before), warm (the first writes, three read), primed (a call before writes).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from loadrig.cost import Price, Prices, Rates, pays_from, total
from loadrig.simulator.cache import Charge, PromptCache
from loadrig.simulator.prefix import Breakpoint, Point, Prefixes
from loadrig.words.prompt import Lifetime
from loadrig.words.record import Usage

S = 1_000_000_000
DAY = date(2026, 11, 20)
RATES = Rates(Decimal("3.00"), Decimal("15.00"), Decimal("3.75"), Decimal("6.00"), Decimal("0.30"))
PRICES = Prices((Price("m", DAY, "invented", DAY, "USD", RATES),))
LIFETIME_S: dict[Lifetime, int] = {"5m": 300, "1h": 3600}
both = pytest.mark.parametrize("lifetime", ["5m", "1h"])


def prompt(lifetime: Lifetime | None, prefix: bytes = b"documents") -> Prefixes:
    """A prefix of 10,000 tokens, marked or not, and 100 tokens of a question, whichever: no cache looks at it."""
    if lifetime is None:
        return Prefixes(10_100)
    return Prefixes(10_100, (Breakpoint(LIFETIME_S[lifetime], (Point(prefix, 10_000),)),))


def charges(at_s: Sequence[float], asked: Prefixes | Sequence[Prefixes]) -> list[Charge]:
    """What the requests that begin then are charged; each response begins a second after its request."""
    cache, pending, found = PromptCache(512), list[tuple[int, int, Prefixes]](), []
    prompts = [asked] * len(at_s) if isinstance(asked, Prefixes) else asked
    for begin_s, one in zip(at_s, prompts, strict=True):
        begin_ns = round(begin_s * S)
        for request_ns, response_ns, earlier in [entry for entry in pending if entry[1] <= begin_ns]:
            cache.began("key", earlier, request_ns=request_ns, response_ns=response_ns)
        pending = [entry for entry in pending if entry[1] > begin_ns]
        found.append(cache.charge("key", one, begin_ns))
        pending.append((begin_ns, begin_ns + S, one))
    return found


def bill(found: Sequence[Charge], outputs: Sequence[int] | None = None) -> Decimal:
    """What those requests cost, each with 200 tokens of output."""
    usages = [
        Usage(
            input=one.input, cache_write_5m=one.write_5m, cache_write_1h=one.write_1h, cache_read=one.read,
            output=output,
        )
        for one, output in zip(found, outputs or [200] * len(found), strict=True)
    ]  # fmt: skip
    costs = [PRICES.cost("m", usage, DAY).amount for usage in usages]
    return total(cost for cost in costs if cost is not None)


def test_off_every_question_pays_for_the_whole_prompt() -> None:
    """4 x (10,100 x 3 + 200 x 15) / 1,000,000 = 4 x 0.0333."""
    assert bill(charges([0, 10, 20, 30], prompt(None))) == Decimal("0.1332")


@pytest.mark.parametrize(("lifetime", "each"), [("5m", "0.0408"), ("1h", "0.0633")])
def test_cold_every_question_pays_for_writing(lifetime: Lifetime, each: str) -> None:
    """10,000 x 3.75 (an hour's: 6) + 100 x 3 + 200 x 15: 0.0408 (0.0633) each, dearer than without a cache, for four
    that begin together and for four a lifetime apart."""
    apart = [n * LIFETIME_S[lifetime] for n in range(4)]
    for at_s in ([0, 0, 0, 0], [0, 0.2, 0.4, 0.6], apart):
        assert bill(charges(at_s, prompt(lifetime))) == 4 * Decimal(each)


@pytest.mark.parametrize(("lifetime", "sum_of"), [("5m", "0.0597"), ("1h", "0.0822")])
def test_warm_the_first_writes_and_the_others_read(lifetime: Lifetime, sum_of: str) -> None:
    """A read costs 10,000 x 0.30 + 100 x 3 + 200 x 15 = 0.0063: 0.0408 (0.0633) + 3 x 0.0063, each a second less than a
    lifetime after the one before, for a read keeps it for another."""
    at_s = [n * (LIFETIME_S[lifetime] - 1) for n in range(4)]
    assert bill(charges(at_s, prompt(lifetime))) == Decimal(sum_of)


@pytest.mark.parametrize(("lifetime", "sum_of"), [("5m", "0.062715"), ("1h", "0.085215")])
def test_primed_a_call_beforehand_writes_and_all_read(lifetime: Lifetime, sum_of: str) -> None:
    """The call sends the prefix alone and gets one token: 10,000 x 3.75 (6) + 15 = 0.037515 (0.060015), and 4 x 0.0063,
    though all four begin together."""
    (mark,) = prompt(lifetime).breakpoints
    found = charges([0, 5, 5, 5, 5], [Prefixes(10_000, (mark,)), *[prompt(lifetime)] * 4])
    assert [one.read for one in found] == [0, 10_000, 10_000, 10_000, 10_000]
    assert bill(found, [1, 200, 200, 200, 200]) == Decimal(sum_of)


@both
def test_the_crossover_is_where_the_bills_cross(lifetime: Lifetime) -> None:
    """The bills of 1, 2, 3, ... questions within a lifetime, with and without: the first that is cheaper is of the
    formula's number, 2 for five minutes and 3 for an hour."""
    cheaper = [
        n for n in range(1, 6)
        if bill(charges([10 * k for k in range(n)], prompt(lifetime))) < bill(charges([0] * n, prompt(None)))
    ]  # fmt: skip
    assert cheaper[0] == pays_from(RATES, lifetime, primed=False) == {"5m": 2, "1h": 3}[lifetime]


@both
def test_one_changed_byte_or_an_expired_lifetime_misses(lifetime: Lifetime) -> None:
    """Other bytes are another prefix, whenever they come; the same ones a lifetime later are gone, a tenth of a second
    before they are there."""
    asked = [prompt(lifetime), prompt(lifetime, b"documentz")]
    assert [one.read for one in charges([0, 10], asked)] == [0, 0]
    for late_s, read in ((0.0, 0), (-0.1, 10_000)):
        assert charges([0, LIFETIME_S[lifetime] + late_s], prompt(lifetime))[1].read == read


def test_another_key_reads_nothing() -> None:
    """C-13: a cache belongs to whoever's key wrote it."""
    cache = PromptCache(512)
    cache.began("red", prompt("5m"), request_ns=0, response_ns=S)
    assert [cache.charge(key, prompt("5m"), 2 * S).read for key in ("red", "blue")] == [10_000, 0]
