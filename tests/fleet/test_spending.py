"""The budget: how many more trials it has room for."""

from __future__ import annotations

from decimal import Decimal

from records import failed, record

from loadrig.fleet.spending import Spending, WorstCase
from loadrig.words.record import Usage
from loadrig.words.settings import BudgetSettings


def _spending(money: str | None = None, tokens: int | None = None) -> Spending:
    return Spending(BudgetSettings(money=money, tokens=tokens), WorstCase(Decimal("0.20"), 2000), ["rag", "other"])


def test_without_a_budget_there_is_no_limit() -> None:
    """No budget, no number."""
    assert _spending().room(5) is None


def test_until_every_arm_has_ended_one_a_trial_is_reckoned_at_the_worst_case() -> None:
    """1.00 at 0.20 each is five trials; two in hand leave three. One cheap trial of one arm changes only the rest."""
    spending = _spending(money="1.00")
    assert spending.room(2) == 3
    spending.add(record("t1", cost="0.10"))
    assert spending.room(0) == 4


def test_then_at_the_dearest_of_the_run() -> None:
    """Both arms have ended one, at 0.10 and 0.05: of the 0.85 left there is room for eight at 0.10."""
    spending = _spending(money="1.00")
    spending.add(record("t1", cost="0.10"))
    spending.add(record("t2", cost="0.05", arm="other"))
    assert spending.room(0) == 8


def test_a_dearer_trial_makes_less_room() -> None:
    """After one trial of 0.40 there is 0.60 left: one more trial of that kind."""
    spending = _spending(money="1.00")
    spending.add(record("t1", cost="0.40"))
    assert spending.room(0) == 1


def test_a_trial_of_unknown_cost_is_counted_at_the_same_price() -> None:
    """A lost trial may have cost as much as any: 1.00 less 0.20 leaves four; one that was not run costs nothing."""
    spending = _spending(money="1.00")
    spending.add(failed("t1", "lost", cost=None))
    spending.add(record("t2", outcome="not_run", reason="stopped", cost=None))
    assert spending.room(0) == 4


def test_the_budget_is_not_passed_by_rounding() -> None:
    """Three times 0.1 is exactly 0.3: of 0.30 nothing is left, and not less than nothing."""
    spending = _spending(money="0.30")
    for name, arm in (("t1", "rag"), ("t2", "other"), ("t3", "rag")):
        spending.add(record(name, cost="0.10", arm=arm))
    assert spending.room(0) == 0


def test_a_budget_in_tokens_counts_every_kind() -> None:
    """10,000 tokens less 3,000 in four kinds, at 3,000 a trial: two more; one in hand leaves one."""
    spending = _spending(tokens=10_000)
    usage = Usage(input=1000, cache_read=1000, cache_write_5m=500, output=500)
    spending.add(record("t1", usage=usage, cost="0"))
    assert spending.room(1) == 1
