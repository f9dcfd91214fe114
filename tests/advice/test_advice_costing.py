"""What a question costs in an arm: by hand, from a table of round prices."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from loadrig.advice.costing import Market, costed, crossover_per_day, hit_share, keeps
from loadrig.cost import Price, Prices, Rates
from loadrig.execution.kept import Kept
from loadrig.execution.sampling import Sample

DAY = date(2026, 11, 1)
RATES = Rates(*map(Decimal, ("4", "20", "5", "8", "0.20")))
PRICE = Price("m", DAY, "a test", DAY, "USD", RATES, cache_minimum=1_000)
MARKET = Market("m", Prices((PRICE,)), DAY, 1_000_000, per_day=288)
WHOLE = Sample("full_context-cache5m", "FullContext", 10_000, guessed=False, kept=Kept("5m", 9_000, 9_000, 1, None))


def test_a_question_without_a_cache() -> None:
    """10,000 local tokens are 13,000; 13,000 x 4 + 300 x 20 per million is 0.058."""
    (cost,) = costed([WHOLE], MARKET)
    assert (cost.prompt_tokens, cost.off) == (13_000, Decimal("0.058"))


def test_a_hit_and_a_miss() -> None:
    """11,700 of 13,000 are kept: 1,300 x 4 + 11,700 x 0.20 + 6,000 on a hit, x 5 or x 8 on a miss."""
    (cost,) = costed([WHOLE], MARKET)
    short, long = cost.cached
    assert cost.static_tokens == 11_700
    assert (short.hit, short.miss) == (Decimal("0.01354"), Decimal("0.0697"))
    assert (long.hit, long.miss) == (Decimal("0.01354"), Decimal("0.1048"))


def test_the_share_of_hits_follows_from_the_volume() -> None:
    """288 a day are one in five minutes and twelve in an hour; what is expected lies between hit and miss."""
    short, long = costed([WHOLE], MARKET)[0].cached
    assert short.hit_share == pytest.approx(1 - math.exp(-1))
    assert long.hit_share == pytest.approx(1 - math.exp(-12))
    assert short.expected is not None
    assert float(short.expected) == pytest.approx(0.01354 + math.exp(-1) * (0.0697 - 0.01354))


def test_the_cheapest_way_is_what_is_expected() -> None:
    """The hour at 288 a day; no cache at one a day; and without a volume."""
    (cost,) = costed([WHOLE], MARKET)
    assert cost.expected == cost.cached[1].expected
    assert costed([WHOLE], replace(MARKET, per_day=1))[0].expected == Decimal("0.058")
    assert costed([WHOLE], replace(MARKET, per_day=None))[0].expected == Decimal("0.058")


def test_callers_with_prefixes_of_their_own_share_the_volume() -> None:
    """Two prefixes at 576 a day hit as one does at 288."""
    assert WHOLE.kept is not None
    two = replace(WHOLE, kept=replace(WHOLE.kept, prefixes=2))
    assert costed([two], replace(MARKET, per_day=576))[0].cached == costed([WHOLE], MARKET)[0].cached


@pytest.mark.parametrize(
    "kept",
    [None, Kept("5m", 700, 700, 1, None), Kept("5m", 9_000, 9_000, 2, "the instructions, from character 1 on")],
    ids=["nothing asked for", "below the least", "parted"],
)
def test_what_cannot_be_kept_has_no_hit(kept: Kept | None) -> None:
    """Nothing is asked for, the prefix is below the model's least (700 x 1.3 < 1,000), or each question's differs."""
    (cost,) = costed([replace(WHOLE, kept=kept)], MARKET)
    assert (cost.static_tokens, cost.cached) == (0, ())


def test_a_model_without_a_price_has_unknown_costs() -> None:
    """None, never 0; tokens are known all the same."""
    (cost,) = costed([WHOLE], replace(MARKET, model="unpriced"))
    assert (cost.prompt_tokens, cost.off, cost.expected, cost.cached) == (13_000, None, None, ())
    assert crossover_per_day(costed([WHOLE], MARKET)[0], replace(MARKET, model="unpriced")) is None


@pytest.mark.parametrize(("window", "too_large"), [(13_300, False), (13_299, True)])
def test_what_no_window_takes_has_no_cost(window: int, too_large: bool) -> None:
    """13,000 tokens of prompt and 300 of output: they fit 13,300, and one less is too few."""
    (cost,) = costed([WHOLE], replace(MARKET, window=window))
    assert (cost.too_large, cost.off is None, cost.expected is None) == (too_large, too_large, too_large)


@pytest.mark.parametrize(("money", "kept"), [("30.00", True), ("29.99", False)])
def test_a_month_has_thirty_days(money: str, kept: bool) -> None:
    """A hundred questions a day at 0.01 are 30.00."""
    assert keeps(Decimal("0.01"), 100.0, Decimal(money)) is kept


def test_from_how_many_a_day_on_a_cache_pays() -> None:
    """ln(7.8 / 3.8) questions an hour, which is 17.26 a day, before ln(4.8 / 3.8) in five minutes, 67.28 a day."""
    (cost,) = costed([WHOLE], MARKET)
    assert crossover_per_day(cost, MARKET) == pytest.approx(24 * math.log(7.8 / 3.8))
    assert crossover_per_day(cost, MARKET) == pytest.approx(17.26, abs=0.01)
    assert crossover_per_day(replace(cost, prefixes=2), MARKET) == pytest.approx(2 * 17.26, abs=0.02)
    assert crossover_per_day(replace(cost, static_tokens=0), MARKET) is None


def test_at_the_crossover_a_cache_costs_what_none_does() -> None:
    """The formula of the hit share and that of the crossover agree."""
    crossover = crossover_per_day(costed([WHOLE], MARKET)[0], MARKET)
    assert crossover is not None
    long = costed([WHOLE], replace(MARKET, per_day=crossover))[0].cached[1]
    assert float(long.expected or 0) == pytest.approx(0.058)
    assert long.hit_share == hit_share(crossover, "1h")
