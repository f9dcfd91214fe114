"""Rates that a run's manifest has on file, and whether they explain what an exchange cost.

    cost = (input x rate + 5m writes x rate + 1h writes x rate + reads x rate + output x rate) / 1,000,000

A multiplier (batch, geography, speed) is in the rates; a prompt-length tier is a tariff of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from loadrig.analysis.bill import plain
from loadrig.cost import prompt_tokens, terms_of, total
from loadrig.words.record import Usage

Tokens = tuple[int, int, int, int, int]
NO_TOKENS: Tokens = (0, 0, 0, 0, 0)
RATES = ("input", "cache_write_5m", "cache_write_1h", "cache_read", "output")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Tariff:
    """`rates` in the order of `Tokens`, decimals per million; `name` tells it from others of the model."""

    name: str
    rates: tuple[str, ...]


def tariff_of(manifest: Mapping[str, Any], model: str, usage: Usage) -> Tariff | None:
    """The tariff of an exchange; None when the manifest has no rates for the model, or none for how it was served."""
    rows = (manifest.get("price_table") or {}).get("rows") or []
    row = next((row for row in rows if row.get("model") == model and "rates" in row), None) or next(
        (row for row in rows if len(rows) == 1 and "rates" in row), None
    )  # an alias that the table prices by its dated id
    if row is None:
        return None
    rates, tier = row["rates"], 0
    for one in row.get("tiers") or []:
        if prompt_tokens(usage) > one["above_prompt_tokens"]:
            rates, tier = one["rates"], one["above_prompt_tokens"]
    terms, factor = terms_of(usage), Decimal(1)
    for term in terms:
        if term not in row.get("multipliers", {}):
            return None
        factor *= Decimal(row["multipliers"][term])
    name = " ".join([model, *([f"above {tier}"] if tier else []), *terms])
    return Tariff(name, tuple(plain(Decimal(rates[kind]) * factor) for kind in RATES))


def counted(before: Tokens, usage: Usage) -> Tokens:
    """The tokens before, and those of one usage; what was not told counts as none."""
    a, b, c, d, e = before
    return (
        a + (usage.input or 0), b + (usage.cache_write_5m or 0), c + (usage.cache_write_1h or 0),
        d + (usage.cache_read or 0), e + (usage.output or 0),
    )  # fmt: skip


def priced(tokens: Tokens, rates: Sequence[str]) -> Decimal:
    """What the tokens cost, exactly."""
    return total(n * Decimal(rate) for n, rate in zip(tokens, rates, strict=True)) / _MILLION


def fits(amount: Decimal, usage: Usage, rates: Sequence[str]) -> bool:
    """Whether the tariff reproduces the cost to the last digit."""
    return priced(counted(NO_TOKENS, usage), rates) == amount
