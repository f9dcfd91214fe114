"""Money: every figure is checkable by hand from price table P (3.00, 15.00, 3.75, 6.00, 0.30 a million)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from loadrig.cost import Prices, Rates, Tier, pays_above, pays_from, prompt_tokens, terms_of, total, total_of
from loadrig.words.errors import InputError
from loadrig.words.prompt import Lifetime
from loadrig.words.record import Usage

DAY = date(2026, 11, 20)
ROW = """[[price]]
model = "{model}"
effective_from = {since}
source = "invented"
seen = 2026-11-01
currency = "USD"
input = "{price}"
output = "15.00"
cache_write_5m = "3.75"
cache_write_1h = "6.00"
cache_read = "0.30"
"""


def row(model: str, *, since: str = "2026-01-01", price: str = "3.00") -> str:
    return ROW.format(model=model, since=since, price=price)


@pytest.fixture
def prices(tmp_path: Path) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(row("m-20260101") + row("plain") + row("free", price="0"))
    return Prices.load(path)


def amount(prices: Prices, usage: Usage) -> Decimal:
    cost = prices.cost("plain", usage, DAY)
    assert cost.amount is not None
    assert not cost.at_least
    return cost.amount


def test_cache_writes_are_not_charged_as_input_too(prices: Prices) -> None:
    """F1: input 12, write 8,000, output 200 cost 0.033036."""
    assert amount(prices, Usage(input=12, cache_write_5m=8000, output=200)) == Decimal("0.033036")


def test_cache_reads_pay_the_read_price(prices: Prices) -> None:
    """F2, F3: input 12, read 8,000, output 200 cost 0.005436, neither full price nor free."""
    assert amount(prices, Usage(input=12, cache_read=8000, output=200)) == Decimal("0.005436")


def test_one_hour_writes_pay_their_own_price_once(prices: Prices) -> None:
    """F4, F5: 1,000 five-minute and 3,000 one-hour writes are 4,000 tokens once: 0.02331."""
    usage = Usage(input=20, cache_write_5m=1000, cache_write_1h=3000, output=100)
    assert amount(prices, usage) == Decimal("0.02331")
    assert prompt_tokens(usage) == 4020


def test_an_unknown_write_split_pays_five_minutes_and_says_so(prices: Prices) -> None:
    """F4: without a split the five-minute price holds, with a note."""
    cost = prices.cost("plain", Usage(input=0, output=0, cache_write_5m=4000, flags=("write split unknown",)), DAY)
    assert (cost.amount, cost.notes) == (Decimal("0.015"), ("write split unknown: 5-minute price",))


def test_a_model_without_a_price_has_no_cost(prices: Prices) -> None:
    """F6: not in the table, or asked for a day before its first row: unknown, not 0, and said."""
    usage = Usage(input=1, output=1)
    for cost in (prices.cost("nobody", usage, DAY), prices.cost("nobody", usage, date(2025, 12, 31))):
        assert (cost.amount, cost.notes) == (None, ("no price for model 'nobody'",))
    assert prices.cost("plain", usage, date(2025, 12, 31)).amount is None


def test_a_price_of_zero_is_a_true_zero(prices: Prices) -> None:
    """F6: a free input is 0 in the bill, not unknown."""
    assert prices.cost("free", Usage(input=1000, output=0), DAY).amount == 0


def test_the_id_in_the_reply_is_priced(prices: Prices) -> None:
    """F7: a dated id is found exactly, or by its name without the date when only that is priced."""
    usage = Usage(input=1_000_000, output=0)
    for model in ("m-20260101", "plain-20261001"):
        assert prices.cost(model, usage, DAY).amount == 3


def test_an_alias_stands_for_the_newest_dated_id_and_a_dated_id_for_no_other(tmp_path: Path) -> None:
    """F7: before a run the plan's `m` or `m-latest` has the price of m-20260301; m-20260201 is another model."""
    path = tmp_path / "prices.toml"
    path.write_text(row("m-20260101", price="1") + row("m-20260301", price="2"))
    prices, usage = Prices.load(path), Usage(input=1_000_000, output=0)
    found = [prices.cost(model, usage, DAY).amount for model in ("m", "m-latest", "m-20260101", "m-20260201")]
    assert found == [2, 2, 1, None]


def test_small_sums_are_not_rounded_away() -> None:
    """F8: a thousand times 0.00000625 is 0.00625 exactly, and a large sum keeps its last digit."""
    assert total([Decimal("0.00000625")] * 1000) == Decimal("0.00625")
    assert total([Decimal("1E+20"), Decimal("1E-20"), Decimal("-1E+20")]) == Decimal("1E-20")


def test_a_sum_with_an_unknown_cost_is_unknown() -> None:
    """0.10 and 0.00000002 are 0.10000002, in plain notation; of none it is 0."""
    assert total_of(["0.10", "0.00000002"]) == "0.10000002"
    assert (total_of(["0.10", None]), total_of([None]), total_of([])) == (None, None, "0")


def test_broken_and_missing_usage_costs_at_least(prices: Prices) -> None:
    """A stream that broke off, or a counter that never came, gives a lower bound and a reason."""
    broken = prices.cost("plain", Usage(input=1000, output=1, exact=False), DAY)
    missing = prices.cost("plain", Usage(input=1000), DAY)
    assert (broken.at_least, broken.notes) == (True, ("at least: the final usage did not come",))
    assert (missing.at_least, missing.notes) == (True, ("at least: output tokens not reported",))


def test_the_prompt_cliff_reprices_every_token() -> None:
    """Over 100,000 prompt tokens, cache reads included, all tokens pay the tier."""
    ours = Prices.load()
    at = ours.cost("claude-haiku-5-5", Usage(input=60_000, cache_read=40_000, output=1000), DAY)
    over = ours.cost("claude-haiku-5-5", Usage(input=60_001, cache_read=40_000, output=1000), DAY)
    assert at.amount == Decimal("0.0069")  # 60,000 x 0.10 + 40,000 x 0.01 + 1,000 x 0.50, a million
    assert over.amount == Decimal("0.0345005")  # 60,001 x 0.50 + 40,000 x 0.05 + 1,000 x 2.50, a million


def test_the_row_of_the_day_counts() -> None:
    """Cache reads of claude-sonnet-5-5 fell from 0.20 to 0.10 on 2026-10-07."""
    ours = Prices.load()
    usage = Usage(input=0, output=0, cache_read=1_000_000)
    before, after = (ours.cost("claude-sonnet-5-5", usage, date(2026, 10, day)) for day in (6, 7))
    assert (before.amount, after.amount) == (Decimal("0.20"), Decimal("0.10"))


def test_terms_multiply() -> None:
    """Batch in the United States: 2.00 x 0.5 x 1.1 = 1.10."""
    cost = Prices.load().cost("claude-sonnet-5-5", Usage(input=1_000_000, output=0), DAY, terms=("batch", "us"))
    assert cost.amount == Decimal("1.10")


@pytest.mark.parametrize(
    ("served", "terms"),
    [
        ({}, ()),
        ({"service_tier": "standard", "speed": "standard", "inference_geo": "global"}, ()),
        ({"inference_geo": "not_available"}, ()),
        ({"service_tier": "batch", "speed": "fast", "inference_geo": "us"}, ("batch", "fast", "us")),
        ({"service_tier": "priority"}, ("priority",)),
    ],
)
def test_how_a_reply_was_served_names_its_multipliers(served: dict[str, str], terms: tuple[str, ...]) -> None:
    """The ordinary ways name none; every other does, known to the table or not."""
    assert terms_of(Usage(**served)) == terms  # type: ignore[arg-type]


def test_a_way_of_serving_without_a_price_is_unknown() -> None:
    """Sonnet has no fast mode: unknown with a reason, neither the ordinary price nor an error."""
    cost = Prices.load().cost("claude-sonnet-5-5", Usage(input=1, output=1), DAY, terms=("fast",))
    assert (cost.amount, cost.notes) == (None, ("no price for model 'claude-sonnet-5-5' served as 'fast'",))


# input, output, 5-minute write, 1-hour write, read; multipliers; on 2026-11-20, a million tokens.
PUBLISHED = {
    "claude-fable-5-2": ("8", "40", "10", "16", "0.20", "batch fast us"),
    "claude-mythos-5-2": ("8", "40", "10", "16", "0.20", "batch fast us"),
    "claude-fable-5-1": ("10", "50", "12.50", "20", "0.25", "batch us"),
    "claude-opus-5-5": ("4", "20", "5", "8", "0.20", "batch fast us"),
    "claude-sonnet-5-5": ("2", "10", "2.50", "4", "0.10", "batch us"),
    "claude-haiku-5-5": ("0.10", "0.50", "0.125", "0.20", "0.01", "batch us"),
    "claude-opus-5": ("5", "25", "6.25", "10", "0.50", "batch fast us"),
    "claude-opus-4-8": ("5", "25", "6.25", "10", "0.50", "batch fast us"),
    "claude-opus-4-7": ("5", "25", "6.25", "10", "0.50", "batch us"),
    "claude-opus-4-6": ("5", "25", "6.25", "10", "0.50", "batch us"),
    "claude-opus-4-5": ("5", "25", "6.25", "10", "0.50", "batch"),
    "claude-sonnet-5": ("2", "10", "2.50", "4", "0.20", "batch us"),
    "claude-sonnet-4-6": ("3", "15", "3.75", "6", "0.30", "batch us"),
    "claude-sonnet-4-5": ("3", "15", "3.75", "6", "0.30", "batch"),
    "claude-haiku-4-5": ("1", "5", "1.25", "2", "0.10", "batch"),
    "claude-haiku-4-5-20251001": ("1", "5", "1.25", "2", "0.10", "batch"),
}
FACTORS = {"batch": Decimal("0.5"), "fast": Decimal(2), "us": Decimal("1.1")}


@pytest.mark.parametrize("model", PUBLISHED)
def test_our_table_row_by_row(model: str) -> None:
    """Each model's five rates and the multipliers it has, as published; fast costs twice, batch half, US 1.1 times."""
    price = Prices.load().price(model, DAY)
    assert price is not None
    rates, (*published, terms) = price.rates, PUBLISHED[model]
    found = (rates.input, rates.output, rates.cache_write_5m, rates.cache_write_1h, rates.cache_read)
    assert found == tuple(map(Decimal, published))
    assert dict(price.multipliers) == {term: FACTORS[term] for term in terms.split()}


def test_no_model_of_our_table_is_unchecked() -> None:
    """Whoever adds a row adds its rates above."""
    assert {price.model for price in Prices.load().rows} == set(PUBLISHED) - {"claude-haiku-4-5-20251001"}


def test_the_cliff_has_all_five_rates() -> None:
    """Over 100,000 tokens Haiku 5.5 costs five times on every kind of token; no other model has a tier."""
    tiers = {price.model: price.tiers for price in Prices.load().rows if price.tiers}
    rates = Rates(Decimal("0.50"), Decimal("2.50"), Decimal("0.625"), Decimal("1.00"), Decimal("0.05"))
    assert tiers == {"claude-haiku-5-5": (Tier(100_000, rates),)}


def test_fast_mode_ends_on_its_day() -> None:
    """Opus 4.8 loses its fast mode on 2026-11-30: 10.00 the day before, unknown from then on."""
    usage, ours = Usage(input=1_000_000, output=0), Prices.load()
    costs = [ours.cost("claude-opus-4-8", usage, date(2026, 11, day), terms=("fast",)).amount for day in (29, 30)]
    assert costs == [10, None]


def test_the_users_rows_replace_ours_of_that_model(tmp_path: Path) -> None:
    """His older row for a model wins over our newer one; other models keep ours."""
    path = tmp_path / "mine.toml"
    path.write_text(row("claude-haiku-5-5", since="2020-01-01", price="7"))
    prices = Prices.load(path)
    mine, ours = (prices.price(model, DAY) for model in ("claude-haiku-5-5", "claude-opus-5-5"))
    assert mine is not None
    assert ours is not None
    assert (mine.rates.input, ours.rates.input) == (Decimal(7), Decimal(4))
    assert not mine.tiers


def test_a_table_has_one_currency(tmp_path: Path) -> None:
    """Laid over ours in another currency, the user's table stands alone: sums never mix currencies."""
    path = tmp_path / "mine.toml"
    path.write_text(row("a").replace("USD", "EUR"))
    assert {price.currency for price in Prices.load(path).rows} == {"EUR"}
    assert (Prices.load(path).currency, Prices.load().currency) == ("EUR", "USD")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "no such price table"),
        ("[[price", "not a price table"),
        ("x = 1", "no [[price]] rows"),
        (row("a") + row("a"), "two rows for a"),
        (row("a").replace('output = "15.00"', "output = 15.00"), "15.0 is not a price"),
        (row("a", price="-1"), "'-1' is not a price"),
        (row("a", price="NaN"), "'NaN' is not a price"),
        (row("a").replace("output", "outptu"), "missing: output"),
        (row("a") + 'colour = "red"', "unknown: colour"),
        (row("a", since='"May"'), "'May' is not a day"),
        (row("a") + row("b").replace("USD", "EUR"), "several currencies: EUR, USD"),
    ],
)
def test_a_bad_table_is_named_with_a_remedy(tmp_path: Path, text: str | None, problem: str) -> None:
    """A user's table that cannot be used stops with its path, the problem and what to do."""
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError) as caught:
        Prices.load(path)
    assert problem in caught.value.problem
    assert caught.value.path == path
    assert caught.value.remedy


def rates(write_5m: str, write_1h: str, read: str, paid: str = "3.00") -> Rates:
    return Rates(Decimal(paid), Decimal("15.00"), Decimal(write_5m), Decimal(write_1h), Decimal(read))


@pytest.mark.parametrize(
    ("of", "lifetime", "first_writes", "primed"),
    [
        (rates("3.75", "6.00", "0.30"), "5m", 2, 2),  # 2 x 3 = 6 > 3.75 + 0.3 = 4.05; primed 3.75 + 0.6 = 4.35
        (rates("3.75", "6.00", "0.30"), "1h", 3, 3),  # 2 x 3 = 6 < 6.30; 3 x 3 = 9 > 6.60; primed 6.90
        (rates("5.25", "9.00", "0.75"), "5m", 3, 3),  # 2 x 3 = 6 is no more than 5.25 + 0.75; primed 2 x 3 < 6.75
        (rates("5.10", "8.99", "0.05"), "5m", 2, 2),
        (rates("5.95", "8.99", "0.05"), "5m", 3, 3),  # 5.95 + 0.05 = 6.00 is not less than 6.00
        (rates("5.94", "8.99", "0.05"), "5m", 2, 3),  # 5.94 + 0.05 < 6.00 < 5.94 + 0.10
        (rates("1.00", "8.99", "0.30"), "5m", 1, 1),  # writing is cheaper than sending
        (rates("3.75", "6.00", "3.00"), "5m", None, None),  # reading saves nothing
    ],
)
def test_from_how_many_questions_on_a_cache_pays(
    of: Rates, lifetime: Lifetime, first_writes: int | None, primed: int | None
) -> None:
    """n questions of a prefix of a million tokens: n x input against write + (n - 1) x read, or, primed, + n x read."""
    assert pays_from(of, lifetime, primed=False) == first_writes
    assert pays_from(of, lifetime, primed=True) == primed


def test_above_how_many_questions_a_lifetime_a_cache_pays_in_the_long_run() -> None:
    """ln((3.75 - 0.30) / (3.00 - 0.30)) = ln(1.27778) = 0.24512, one in 20 minutes; an hour's ln(2.11111) = 0.74721."""
    of = rates("3.75", "6.00", "0.30")
    assert round(pays_above(of, "5m") or 0, 5) == 0.24512
    assert round(pays_above(of, "1h") or 0, 5) == 0.74721
    assert pays_above(rates("1.00", "6.00", "0.30"), "5m") == 0
    assert pays_above(rates("3.75", "6.00", "3.00"), "5m") is None


def test_the_least_prefix_is_the_models_and_a_users_price_does_not_lose_it(tmp_path: Path) -> None:
    """512, 1,024, 2,048 and 4,096 tokens by model; a user's row has ours unless it says otherwise."""
    ours = Prices.load()
    models = ("claude-haiku-5-5", "claude-opus-4-8", "claude-opus-4-7", "claude-haiku-4-5-20251001")
    found = [ours.price(model, DAY) for model in models]
    assert [row.cache_minimum for row in found if row] == [512, 1024, 2048, 4096]
    path = tmp_path / "prices.toml"
    path.write_text(row("claude-haiku-5-5") + row("claude-opus-4-8") + "cache_minimum = 64\n" + row("unheard-of"))
    theirs = Prices.load(path)
    names = ("claude-haiku-5-5", "claude-opus-4-8", "unheard-of")
    assert [found.cache_minimum for name in names if (found := theirs.price(name, DAY))] == [512, 64, None]


def test_a_least_prefix_is_a_whole_number(tmp_path: Path) -> None:
    """Half a token is a slip of the pen."""
    path = tmp_path / "prices.toml"
    path.write_text(row("m") + "cache_minimum = 0.5\n")
    with pytest.raises(InputError, match="no number of tokens"):
        Prices.load(path)
