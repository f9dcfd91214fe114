"""Cost of the trial, all turns and attempts, in the currency of its record."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "cost"
UNIT = "currency"


def value(record: Record) -> float | None:
    """Units of the record's currency as a float, for statistics only; None when unknown. Bills add decimals."""
    return None if record.cost is None else float(record.cost)
