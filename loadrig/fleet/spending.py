"""What a run has spent, and whether sending on could pass its budget. Pure.

A trial in hand is reckoned at the dearest of its run so far, and until every arm has ended one, at the worst case that
was foreseen: its prompt's estimate and all the output its model may give. A trial whose cost is not known is counted at
the same price. A budget in money needs prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from loadrig.cost import prompt_tokens
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
        self._money = None if budget.money is None else Decimal(budget.money)
        self._tokens = budget.tokens
        self._worst = worst
        self._unseen = set(arms)
        self._dearest, self._largest = Decimal(0), 0
        self._spent, self._used = Decimal(0), 0

    def add(self, record: Record) -> None:
        """Counts one written record."""
        if record.outcome == "not_run":
            return
        usage = record.usage
        used = 0 if usage is None else prompt_tokens(usage) + (usage.output or 0)
        if record.cost is None:
            self._spent += self._reckoned.cost
            self._used += max(used, self._reckoned.tokens)
            return
        self._spent += Decimal(record.cost)
        self._used += used
        self._dearest, self._largest = max(self._dearest, Decimal(record.cost)), max(self._largest, used)
        if record.outcome != "failed":
            self._unseen.discard(record.arm)

    def room(self, in_hand: int) -> int | None:
        """How many more trials may be begun beside those in hand; None: no budget is set."""
        each = self._reckoned
        rooms = []
        if self._money is not None and each.cost:
            rooms.append(int((self._money - self._spent) // each.cost))
        if self._tokens is not None and each.tokens:
            rooms.append((self._tokens - self._used) // each.tokens)
        return max(0, min(rooms) - in_hand) if rooms else None

    @property
    def _reckoned(self) -> WorstCase:
        """What a trial that has not ended is reckoned at."""
        if not self._unseen:
            return WorstCase(self._dearest, self._largest)
        return WorstCase(max(self._dearest, self._worst.cost), max(self._largest, self._worst.tokens))
