"""The budget: how many more trials it has room for."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
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


def test_a_call_beforehand_says_nothing_of_what_its_arms_trials_cost() -> None:
    """Both arms' caches were primed for 0.01 each: of the 0.98 left a trial is reckoned at the worst case, 0.20."""
    spending = _spending(money="1.00")
    for arm in ("rag", "other"):
        spending.add(record(f"primes {arm}", cost="0.01", arm=arm, phase="probe"))
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


def test_tokens_are_known_where_money_is_not() -> None:
    """A model without a price: its 1,000 tokens count as 1,000, and each further trial is reckoned at that."""
    spending = _spending(tokens=10_000)
    for name, arm in (("t1", "rag"), ("t2", "other")):
        spending.add(record(name, usage=Usage(input=900, output=100), cost=None, arm=arm))
    assert spending.room(0) == 8


def test_a_reply_that_broke_off_is_counted_at_the_worst_case() -> None:
    """Its 0.01 is a lower bound: of 1.00 there is 0.80 left, four trials at 0.20."""
    spending = _spending(money="1.00")
    spending.add(failed("t1", "incomplete", usage=Usage(input=9, output=1, exact=False), cost="0.01"))
    assert spending.room(0) == 4


def test_a_refused_request_used_nothing() -> None:
    """A 429 costs 0 money and 0 tokens: of 10,000 tokens there is still room for five of 2,000."""
    spending = _spending(tokens=10_000)
    spending.add(failed("t1", "rate_limited", usage=None, cost="0"))
    assert spending.room(0) == 5


cents = st.integers(0, 60)


@given(budget=st.integers(1, 500), slots=st.integers(1, 6), costs=st.lists(cents, min_size=1, max_size=80))
def test_a_budget_is_never_passed_by_more_than_what_was_in_flight(budget: int, slots: int, costs: list[int]) -> None:
    """Whatever trials turn out to cost: a trial is begun only while what is known to be spent, and all in flight at the
    dearest known, fit; so what was passed is at most what the trials in flight at the last begin cost."""
    spending = Spending(BudgetSettings(money=str(Decimal(budget) / 100)), WorstCase(Decimal("0.20"), 0), ["rag"])
    waiting, flying, spent, bound = list(costs), [], 0, budget
    while waiting or flying:
        while waiting and len(flying) < slots and spending.room(len(flying)):
            flying.append(waiting.pop(0))
            assert spent + 20 * (spent == 0) <= budget
            bound = max(budget, spent + sum(flying))
        if not flying:
            break
        cost = flying.pop(0)
        spent += cost
        spending.add(record("t", cost=f"{cost / 100:.2f}", usage=Usage(input=1, output=1)))
    assert spent <= bound


@given(slots=st.integers(1, 6), costs=st.lists(st.integers(1, 20), min_size=1, max_size=80))
def test_within_the_worst_case_the_first_trials_never_pass_the_budget(slots: int, costs: list[int]) -> None:
    """As long as an arm is unseen each is reckoned at 0.20: costs up to that never pass 1.00, however many at once."""
    spending = Spending(BudgetSettings(money="1.00"), WorstCase(Decimal("0.20"), 0), ["rag", "other"])
    spent, flying = 0, []
    for cost in costs:
        if len(flying) == slots:
            done = flying.pop(0)
            spent += done
            spending.add(record("t", cost=f"{done / 100:.2f}", usage=Usage(input=1, output=1)))
        if spending.room(len(flying)):
            flying.append(cost)
    assert spent + sum(flying) <= 100
