"""The budget: how many more trials it has room for."""

from __future__ import annotations

from decimal import Decimal

from records import record

from loadrig.fleet.spending import Spending
from loadrig.words.record import Usage
from loadrig.words.settings import BudgetSettings


def _spending(money: str | None = None, tokens: int | None = None) -> Spending:
    return Spending(BudgetSettings(money=money, tokens=tokens), dearest=Decimal("0.10"), largest=1000)


def test_without_a_budget_there_is_no_limit() -> None:
    """No budget, no number."""
    assert _spending().room(5) is None


def test_trials_in_hand_are_reckoned_at_the_dearest() -> None:
    """1.00 at 0.10 each is ten trials; four in hand leave six."""
    assert _spending(money="1.00").room(4) == 6


def test_a_dearer_trial_makes_less_room() -> None:
    """After one trial of 0.40 there is 0.60 left: one more trial of that kind."""
    spending = _spending(money="1.00")
    spending.add(record("t1", cost="0.40"))
    assert spending.room(0) == 1


def test_the_budget_is_not_passed_by_rounding() -> None:
    """Three times 0.1 is exactly 0.3: of 0.30 nothing is left, and not less than nothing."""
    spending = _spending(money="0.30")
    for name in ("t1", "t2", "t3"):
        spending.add(record(name, cost="0.10"))
    assert spending.room(0) == 0


def test_a_budget_in_tokens_counts_every_kind() -> None:
    """10,000 tokens less 3,000 in four kinds, at 3,000 a trial: two more; one in hand leaves one."""
    spending = _spending(tokens=10_000)
    usage = Usage(input=1000, cache_read=1000, cache_write_5m=500, output=500)
    spending.add(record("t1", usage=usage))
    assert spending.room(1) == 1
