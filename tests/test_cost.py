"""Money: every figure is checkable by hand from price table P (3.00, 15.00, 3.75, 6.00, 0.30 a million)."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from loadrig.cost import Prices, prompt_tokens, total
from loadrig.words.errors import InputError
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
    assert cost is not None
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
    assert cost is not None
    assert (cost.amount, cost.notes) == (Decimal("0.015"), ("write split unknown: 5-minute price",))


def test_a_model_without_a_price_has_no_cost(prices: Prices) -> None:
    """F6: not in the table, or asked for a day before its first row: None, not 0."""
    usage = Usage(input=1, output=1)
    assert prices.cost("nobody", usage, DAY) is None
    assert prices.cost("plain", usage, date(2025, 12, 31)) is None


def test_a_price_of_zero_is_a_true_zero(prices: Prices) -> None:
    """F6: a free input is 0 in the bill, not unknown."""
    cost = prices.cost("free", Usage(input=1000, output=0), DAY)
    assert cost is not None
    assert cost.amount == 0


def test_the_id_in_the_reply_is_priced(prices: Prices) -> None:
    """F7: a dated id is found exactly, or by its name without the date when only that is priced."""
    usage = Usage(input=1_000_000, output=0)
    for model in ("m-20260101", "plain-20261001"):
        cost = prices.cost(model, usage, DAY)
        assert cost is not None
        assert cost.amount == 3
    assert prices.cost("m-latest", usage, DAY) is None


def test_small_sums_are_not_rounded_away() -> None:
    """F8: a thousand times 0.00000625 is 0.00625 exactly, and a large sum keeps its last digit."""
    assert total([Decimal("0.00000625")] * 1000) == Decimal("0.00625")
    assert total([Decimal("1E+20"), Decimal("1E-20"), Decimal("-1E+20")]) == Decimal("1E-20")


def test_broken_and_missing_usage_costs_at_least(prices: Prices) -> None:
    """A stream that broke off, or a counter that never came, gives a lower bound and a reason."""
    broken = prices.cost("plain", Usage(input=1000, output=1, exact=False), DAY)
    missing = prices.cost("plain", Usage(input=1000), DAY)
    assert broken is not None
    assert missing is not None
    assert (broken.at_least, broken.notes) == (True, ("the reply broke off: at least",))
    assert (missing.at_least, missing.notes) == (True, ("output tokens not reported",))


def test_the_prompt_cliff_reprices_every_token() -> None:
    """Over 100,000 prompt tokens, cache reads included, all tokens pay the tier."""
    ours = Prices.load()
    at = ours.cost("claude-haiku-5-5", Usage(input=60_000, cache_read=40_000, output=1000), DAY)
    over = ours.cost("claude-haiku-5-5", Usage(input=60_001, cache_read=40_000, output=1000), DAY)
    assert at is not None
    assert over is not None
    assert at.amount == Decimal("0.0069")  # 60,000 x 0.10 + 40,000 x 0.01 + 1,000 x 0.50, a million
    assert over.amount == Decimal("0.0345005")  # 60,001 x 0.50 + 40,000 x 0.05 + 1,000 x 2.50, a million


def test_the_row_of_the_day_counts() -> None:
    """Cache reads of claude-sonnet-5-5 fell from 0.20 to 0.10 on 2026-10-07."""
    ours = Prices.load()
    usage = Usage(input=0, output=0, cache_read=1_000_000)
    before, after = (ours.cost("claude-sonnet-5-5", usage, date(2026, 10, day)) for day in (6, 7))
    assert before is not None
    assert after is not None
    assert (before.amount, after.amount) == (Decimal("0.20"), Decimal("0.10"))


def test_terms_multiply() -> None:
    """Batch in the United States: 2.00 x 0.5 x 1.1 = 1.10."""
    cost = Prices.load().cost("claude-sonnet-5-5", Usage(input=1_000_000, output=0), DAY, terms=("batch", "us"))
    assert cost is not None
    assert cost.amount == Decimal("1.10")


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
