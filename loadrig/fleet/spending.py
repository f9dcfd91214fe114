"""What a run has spent, and whether sending on could pass its budget. Pure.

A trial in hand is reckoned at the dearest seen so far (at first: the estimate), so that the budget holds when every
one of them costs as much. Trials of unknown cost cannot be reckoned: a budget in money needs prices.
"""

from __future__ import annotations

from decimal import Decimal

from loadrig.words.record import Record
from loadrig.words.settings import BudgetSettings


class Spending:
    """Adds up records; `would_pass` is asked before a lease."""

    def __init__(self, budget: BudgetSettings, *, dearest: Decimal, largest: int) -> None:
        self._money = None if budget.money is None else Decimal(budget.money)
        self._tokens = budget.tokens
        self._dearest, self._largest = dearest, largest
        self._spent, self._used = Decimal(0), 0

    def add(self, record: Record) -> None:
        """Counts one written record."""
        if record.cost is not None:
            self._spent += Decimal(record.cost)
            self._dearest = max(self._dearest, Decimal(record.cost))
        if record.usage is not None:
            usage = record.usage
            parts = (usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h, usage.output)
            used = sum(part or 0 for part in parts)
            self._used += used
            self._largest = max(self._largest, used)

    def room(self, in_hand: int) -> int | None:
        """How many more trials may be begun beside those in hand; None: no budget is set."""
        rooms = []
        if self._money is not None:
            rooms.append((self._money - self._spent) // self._dearest if self._dearest else Decimal("Infinity"))
        if self._tokens is not None:
            rooms.append(Decimal((self._tokens - self._used) // self._largest if self._largest else "Infinity"))
        finite = [int(room) for room in rooms if room.is_finite()]
        return max(0, min(finite) - in_hand) if finite else None
