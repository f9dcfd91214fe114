"""What a run has spent, and whether sending on could pass its budget. Pure.

A trial in hand is reckoned at the dearest of its run so far, and until every arm has ended one, at the worst case that
was foreseen: its prompt's estimate and all the output its model may give. What a trial cost or used is counted as
reported; where that is unknown or a lower bound (it was lost, it broke off), at what it was reckoned at. Money and
tokens are two accounts: a budget in money needs prices, one in tokens does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from loadrig.cost import is_open, prompt_tokens
from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings


@dataclass(frozen=True, slots=True)
class WorstCase:
    """One trial's money and tokens, foreseen."""

    cost: Decimal
    tokens: int


class Spending:
    """Adds up records; `room` is asked before a lease. `arms` are those that will be asked."""

    def __init__(self, budget: BudgetSettings, worst: WorstCase, arms: Iterable[str]) -> None:
        arms = frozenset(arms)
        money = None if budget.money is None else Decimal(budget.money)
        self._money = _Account(money, worst.cost, arms)
        self._tokens = _Account(None if budget.tokens is None else Decimal(budget.tokens), Decimal(worst.tokens), arms)

    def add(self, record: Record) -> None:
        """Counts one written record."""
        if record.outcome == "not_run":
            return
        usage = record.usage
        used = None if usage is None else Decimal(prompt_tokens(usage) + (usage.output or 0))
        cost = None if record.cost is None else Decimal(record.cost)
        if usage is None and cost is not None:
            used = Decimal(0)  # nothing was generated, and that is known: a refusal
        final = usage is None or not is_open(usage)
        arm = None if record.outcome == "failed" or record.phase == "probe" else record.arm
        self._money.add(cost, final=final, arm=arm)
        self._tokens.add(used, final=final, arm=arm)

    @property
    def money(self) -> Decimal:
        """What was spent so far."""
        return self._money.spent

    def room(self, in_hand: int) -> int | None:
        """How many more trials may be begun beside those in hand; None: no budget is set."""
        rooms = [room for account in (self._money, self._tokens) if (room := account.room()) is not None]
        return max(0, min(rooms) - in_hand) if rooms else None


class _Account:
    """Money or tokens. `arm` of an entry is one whose trials need not be reckoned at the worst case any more."""

    def __init__(self, limit: Decimal | None, worst: Decimal, arms: frozenset[str]) -> None:
        self._limit, self._worst, self._unseen = limit, worst, set(arms)
        self.spent = self._largest = Decimal(0)

    def add(self, amount: Decimal | None, *, final: bool, arm: str | None) -> None:
        """One trial's amount; None: unknown, not `final`: a lower bound."""
        if amount is None or not final:
            self.spent += max(amount or Decimal(0), self._reckoned)
            return
        self.spent += amount
        self._largest = max(self._largest, amount)
        if arm is not None:
            self._unseen.discard(arm)

    def room(self) -> int | None:
        """Trials that what is left would pay for; None: no limit, or they cost nothing."""
        if self._limit is None or not self._reckoned:
            return None
        return int((self._limit - self.spent) // self._reckoned)

    @property
    def _reckoned(self) -> Decimal:
        return max(self._largest, self._worst) if self._unseen else self._largest
