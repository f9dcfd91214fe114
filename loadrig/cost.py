"""Money: a dated price table and what one HTTP exchange cost, in exact decimals. Rounding is for display only.

Rules:
- A price is looked up by the model that the *reply* names: exact match first, then the id without a trailing
  `-YYYYMMDD`; an id without a date (an alias, `-latest` or not) may also stand for the newest dated id that is priced.
  Of that model's rows the latest with `effective_from` on or before the day counts.
- No row, or no multiplier for a way in which the reply says it was served: unknown (None), never 0, and a note says
  why. A price of 0 in the table is a true 0.
- A user's table is laid over ours: his rows for a model replace all of ours for that model. A table has one currency;
  where his is another than ours, ours is left out, for nothing here converts money.
- Prompt size (uncached input + cache writes + cache reads) picks the tier; the tier prices every token of the exchange.
- An exchange whose usage is not final, or lacks input or output, costs "at least" what is known. Cache counters that
  a provider does not report are taken for no caching.

Knows nothing of time zones (the caller gives the day, UTC).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal, InvalidOperation, localcontext
from pathlib import Path
from typing import Any

import msgspec

from loadrig.words.errors import InputError
from loadrig.words.prompt import Lifetime
from loadrig.words.record import Attempt, Usage

OURS = Path(__file__).with_name("prices.toml")
SPLIT_UNKNOWN = "write split unknown"

_RATES = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
_NEEDED = ("model", "effective_from", "source", "seen", "currency", *_RATES)
_OPTIONAL = ("tiers", "multipliers", "cache_minimum")
_PLAINLY = {"standard", "default", "global", "not_available"}  # ways to be served that no multiplier belongs to
_DATED = re.compile(r"-\d{8}$")
_LATEST = re.compile(r"-latest$")
_MILLION = Decimal(1_000_000)
_MOST_FOUND = 1000


@dataclass(frozen=True, slots=True)
class Rates:
    """Currency units per million tokens."""

    input: Decimal
    output: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal
    cache_read: Decimal


@dataclass(frozen=True, slots=True)
class Tier:
    """Rates of an exchange whose prompt is larger than `above_prompt_tokens`."""

    above_prompt_tokens: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class Price:
    """One row of a table. `tiers` rise; `multipliers` are named (`batch`, `us`, `fast`) and apply to every token.
    `cache_minimum`: tokens below which the model's endpoint caches no prefix; None: not known."""

    model: str
    effective_from: date
    source: str
    seen: date
    currency: str
    rates: Rates
    tiers: tuple[Tier, ...] = ()
    multipliers: tuple[tuple[str, Decimal], ...] = ()
    cache_minimum: int | None = None


class Cost(msgspec.Struct, frozen=True, gc=False):
    """What one exchange cost; `amount` None: unknown. `at_least`: the bill may be higher. `notes` say why."""

    amount: Decimal | None
    currency: str
    at_least: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table in one currency. Rows of one model are in no particular order."""

    rows: tuple[Price, ...]
    _found: dict[tuple[str, date], Price | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def load(cls, user: Path | str | None = None) -> Prices:
        """Our table with the user's laid over it. Raises `InputError` when his cannot be read."""
        ours = _read(OURS)
        if user is None:
            return cls(ours)
        minima = {row.model: row.cache_minimum for row in ours}
        theirs = tuple(
            row if row.cache_minimum is not None else replace(row, cache_minimum=minima.get(row.model))
            for row in _read(Path(user))
        )
        replaced = {row.model for row in theirs}
        kept = (row for row in ours if row.model not in replaced and row.currency == theirs[0].currency)
        return cls((*kept, *theirs))

    @property
    def currency(self) -> str:
        """The table's currency, as its rows spell it."""
        return self.rows[0].currency

    def price(self, model: str, day: date) -> Price | None:
        """The row that holds for `model` on `day`, or None. Looked up once: every exchange asks."""
        key = (model, day)
        if key not in self._found:
            if len(self._found) >= _MOST_FOUND:  # a reply may name any model
                self._found.clear()
            self._found[key] = self._look_up(model, day)
        return self._found[key]

    def _look_up(self, model: str, day: date) -> Price | None:
        now = [row for row in self.rows if row.effective_from <= day]
        undated, alias = _DATED.sub("", model), _LATEST.sub("", model)
        dated = [row.model for row in now if row.model != alias and _DATED.sub("", row.model) == alias]
        for name in (model, undated, alias, max(dated, default=model)):
            rows = [row for row in now if row.model == name]
            if rows:
                return max(rows, key=lambda row: row.effective_from)
        return None

    def cost(self, model: str, usage: Usage, day: date, *, terms: Iterable[str] = ()) -> Cost:
        """What an exchange with `model`, as the reply named it, cost on `day`.

        `terms` name multipliers of the row that apply (`batch`, `us`, see `terms_of`); they stack.
        cost = (input x rate + output x rate + writes x rates + reads x rate) / 1,000,000 x multipliers.
        """
        price = self.price(model, day)
        if price is None:
            return Cost(None, self.currency, notes=(f"no price for model {model[:80]!r}",))
        amount = _amount(usage, _rates_for(price, prompt_tokens(usage)))
        for term in terms:
            factors = dict(price.multipliers)
            if term not in factors:
                return Cost(None, price.currency, notes=(f"no price for model {model[:80]!r} served as {term[:80]!r}",))
            amount *= factors[term]
        return Cost(amount, price.currency, is_open(usage), _notes(usage))


def terms_of(usage: Usage) -> tuple[str, ...]:
    """Names of the multipliers that belong to how a reply was served; none for the ordinary way."""
    return tuple(
        word
        for word in (usage.service_tier, usage.speed, usage.inference_geo)
        if word is not None and word not in _PLAINLY
    )


def is_open(usage: Usage) -> bool:
    """Whether more may have been used than was reported: what it costs is then a lower bound."""
    return not usage.exact or usage.input is None or usage.output is None


def is_free(attempt: Attempt) -> bool:
    """Whether an attempt without usage is known to cost nothing: it was refused with a status, or never sent whole. A
    request that was sent and not replied to may be at work, and on the bill, all the same."""
    return attempt.upload_ns is None if attempt.http_status is None else attempt.http_status != 200


def prompt_tokens(usage: Usage) -> int:
    """Prompt size in tokens: uncached input + cache writes + cache reads, of what was reported."""
    return (usage.input or 0) + written_tokens(usage) + (usage.cache_read or 0)


def written_tokens(usage: Usage) -> int:
    """Prompt tokens written to the cache, for whatever lifetime, of what was reported."""
    return (usage.cache_write_5m or 0) + (usage.cache_write_1h or 0)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum, whatever the number of digits."""
    with localcontext(prec=100):
        return sum(amounts, Decimal(0))


def total_of(costs: Sequence[str | None]) -> str | None:
    """The exact sum of decimal strings, as one; None as soon as one is unknown. A single one is left as it is."""
    if len(costs) == 1:
        return costs[0]
    known = [Decimal(cost) for cost in costs if cost is not None]
    return format(total(known), "f") if len(known) == len(costs) else None


def pays_from(rates: Rates, lifetime: Lifetime, *, primed: bool) -> int | None:
    """Of how many questions on, all within the lifetime of the one before, a kept prefix is cheaper than sending it
    anew each time; None: never.

    What stands behind the prefix costs the same either way and the prefix's size is a factor of both sides, so rates
    alone decide. n questions cost n x input without a cache. With one, the first writes and the others read, or, where
    a call of its own has primed it, that call writes and all of them read:

        n x input > write + (n - 1) x read   <=>   n > (write - read) / (input - read)
        n x input > write + n x read         <=>   n > write / (input - read)        (primed)
    """
    saved = rates.input - rates.cache_read
    if saved <= 0:
        return None
    write = _write(rates, lifetime)
    return max(1, int((write if primed else write - rates.cache_read) / saved) + 1)


def pays_above(rates: Rates, lifetime: Lifetime) -> float | None:
    """Above how many questions a lifetime, on average and at random, a kept prefix is cheaper in the long run; None:
    never. Each reads if the one before came less than a lifetime ago, which keeps the prefix for another one.

    Of Poisson arrivals, v on average in a lifetime, a share e^-v comes after a longer gap and writes:

        read + (write - read) x e^-v < input   <=>   v > ln((write - read) / (input - read))
    """
    saved, lost = rates.input - rates.cache_read, _write(rates, lifetime) - rates.cache_read
    if saved <= 0:
        return None
    return float((lost / saved).ln()) if lost > saved else 0.0


def _write(rates: Rates, lifetime: Lifetime) -> Decimal:
    return rates.cache_write_5m if lifetime == "5m" else rates.cache_write_1h


def _rates_for(price: Price, prompt_size: int) -> Rates:
    rates = price.rates
    for tier in price.tiers:
        if prompt_size > tier.above_prompt_tokens:
            rates = tier.rates
    return rates


def _amount(usage: Usage, rates: Rates) -> Decimal:
    return (
        (usage.input or 0) * rates.input
        + (usage.output or 0) * rates.output
        + (usage.cache_write_5m or 0) * rates.cache_write_5m
        + (usage.cache_write_1h or 0) * rates.cache_write_1h
        + (usage.cache_read or 0) * rates.cache_read
    ) / _MILLION


def _notes(usage: Usage) -> tuple[str, ...]:
    if usage.exact and not usage.flags and usage.input is not None and usage.output is not None:
        return ()
    notes = []
    if SPLIT_UNKNOWN in usage.flags:
        notes.append("write split unknown: 5-minute price")
    if not usage.exact:
        notes.append("at least: the final usage did not come")
    notes.extend(
        f"at least: {name} tokens not reported" for name in ("input", "output") if getattr(usage, name) is None
    )
    return tuple(notes)


def _read(path: Path) -> tuple[Price, ...]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such price table", path=path, remedy="check [prices] path in the plan") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"not a price table: {error}", path=path, remedy="write it as TOML, UTF-8") from error
    rows = table.get("price")
    if set(table) != {"price"} or not isinstance(rows, list) or not rows:
        raise InputError("no [[price]] rows, or keys besides them", path=path, remedy="write one [[price]] per model")
    prices = tuple(_row(row, number, path) for number, row in enumerate(rows, start=1))
    if len(currencies := {price.currency for price in prices}) > 1:
        raise InputError(
            f"several currencies: {', '.join(sorted(currencies))}", path=path, remedy="write all prices in one currency"
        )
    keys = [(price.model, price.effective_from) for price in prices]
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(
                f"two rows for {key[0]} from {key[1]}", path=path, remedy="keep one row a model and effective_from"
            )
    return prices


def _row(row: Mapping[str, Any], number: int, path: Path) -> Price:
    where = f"[[price]] number {number} ({row.get('model', 'no model')})"
    _check_keys(row, needed=_NEEDED, optional=_OPTIONAL, where=where, path=path)
    days = {}
    for name in ("effective_from", "seen"):
        days[name] = _day(row[name], f"{where}: {name}", path)
    tiers = []
    for tier in row.get("tiers", []):
        _check_keys(tier, needed=("above_prompt_tokens", *_RATES), optional=(), where=f"{where}: tiers", path=path)
        tiers.append(Tier(int(tier["above_prompt_tokens"]), _rates(tier, where, path)))
    multipliers = row.get("multipliers", {})
    return Price(
        model=str(row["model"]),
        effective_from=days["effective_from"],
        source=str(row["source"]),
        seen=days["seen"],
        currency=str(row["currency"]),
        rates=_rates(row, where, path),
        tiers=tuple(sorted(tiers, key=lambda tier: tier.above_prompt_tokens)),
        multipliers=tuple((name, _decimal(value, f"{where}: {name}", path)) for name, value in multipliers.items()),
        cache_minimum=_count(row.get("cache_minimum"), f"{where}: cache_minimum", path),
    )


def _check_keys(
    row: Mapping[str, Any], *, needed: Iterable[str], optional: Iterable[str], where: str, path: Path
) -> None:
    needed = set(needed)
    missing, unknown = needed - set(row), set(row) - needed - set(optional)
    if missing or unknown:
        names = ", ".join(sorted(missing or unknown))
        problem = f"{where}: {'missing' if missing else 'unknown'}: {names}"
        raise InputError(problem, path=path, remedy=f"a row needs {', '.join(sorted(needed))}")


def _rates(row: Mapping[str, Any], where: str, path: Path) -> Rates:
    return Rates(**{name: _decimal(row[name], f"{where}: {name}", path) for name in _RATES})


def _count(value: object, where: str, path: Path) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise InputError(f"{where}: {value!r} is no number of tokens", path=path, remedy="write a whole number, like 512")


def _decimal(value: object, where: str, path: Path) -> Decimal:
    """Decimal strings only: a TOML float has lost its exact value already. Whole numbers are exact."""
    try:
        number = Decimal(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
    except InvalidOperation:
        number = None
    if number is None or not number.is_finite() or number < 0:
        raise InputError(
            f"{where}: {value!r} is not a price", path=path, remedy='write decimals in quotes, like "0.30"'
        )
    return number


def _day(value: object, where: str, path: Path) -> date:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise InputError(f"{where}: {value!r} is not a day", path=path, remedy="write it like 2026-11-09") from None
