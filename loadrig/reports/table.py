"""A table as plain text, and how values become its cells; terminal and Markdown draw the same tables.

Rules: a value that is not available is `-`, never 0; a quantile with fewer than 5 samples beyond it ends in `*`; one
that falls among failures is `>` the longest time known; money is rounded here and nowhere else. Cells may hold what a
model or a document said: `one_line` makes it harmless to a terminal, each drawer escapes it for its own syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from loadrig.analysis.bill import Money
from loadrig.stats import Quantile, Share

NONE = "-"
FEW_NOTE = "* fewer than 5 samples lie beyond this quantile"
BOUND_NOTE = "! the stage is client-bound: its latencies are partly the rig's own"
UNCHECKED_NOTE = "? not checked whether the stage is client-bound: the rig's own samples are missing"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headers; the first column names the row, the others are set to the right, or, where they are `words`,
    to the left."""

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: bool = False


def seconds(found: Quantile | None) -> str:
    """`0.812`, `>30.0`, `0.812*` when few samples lie beyond; seconds."""
    if found is None:
        return NONE
    star = "*" if found.few else ""
    if found.value_ns is None:
        return f">{_seconds(found.beyond_ns or 0)}{star}"
    return f"{_seconds(found.value_ns)}{star}"


def interval(found: Quantile | None) -> str:
    """The 95 % interval of a quantile, `0.790 to 0.845`; `-` for an end that the sample is too small to give."""
    if found is None or (found.low_ns is None and found.high_ns is None):
        return NONE
    return " to ".join(NONE if end is None else _seconds(end) for end in (found.low_ns, found.high_ns))


def several(*found: Quantile | None) -> str:
    """Quantiles side by side: `0.812/1.20`."""
    return "/".join(map(seconds, found)) if any(found) else NONE


def number(value: float | None, digits: int = 0) -> str:
    """`2,917`, or `4.6` with one digit."""
    return NONE if value is None else f"{value:,.{digits}f}"


def money(sum_of: Money) -> str:
    """The sum with its currency: `0.40 USD`, `>= 0.40 USD` when it may be more, `unknown`."""
    if sum_of.amount is None:
        return "unknown"
    low = ">= " if sum_of.at_least or sum_of.unknown else ""
    return f"{low}{amount(sum_of.amount)} {sum_of.currency or ''}".rstrip()


def amount(decimal: str | None) -> str:
    """Money to at least two decimals and, below one unit, four significant digits: `12.50`, `0.005436`."""
    if decimal is None:
        return NONE
    value = Decimal(decimal)
    if value == 0:
        return "0"
    places = max(2, 3 - value.adjusted()) if abs(value) < 1 else 2
    return f"{value:,.{places}f}"


def share(found: Share | None) -> str:
    """`17/20 [.64, .95]`: the count and its 95 % interval."""
    if found is None:
        return NONE
    return f"{found.k}/{found.n} [{_fraction(found.low)}, {_fraction(found.high)}]"


def fraction(value: float | None) -> str:
    """A share of 1 to three digits: `.678`, `1`."""
    return NONE if value is None else _fraction(value, 3)


def milliseconds(value_ns: int | None) -> str:
    """`4.2`."""
    return NONE if value_ns is None else f"{value_ns / 1e6:.1f}"


def percent(value: float | None) -> str:
    """`38 %` of 0.38."""
    return NONE if value is None else f"{100 * value:.0f} %"


def bound_mark(bound: bool | None) -> str:
    """What stands behind a name whose times may be the rig's own: `!` when they partly are, `?` when unknown."""
    return "?" if bound is None else "!" if bound else ""


def bound_notes(*verdicts: bool | None) -> tuple[str, ...]:
    """What the marks mean, of those that are there."""
    notes = {"!": BOUND_NOTE, "?": UNCHECKED_NOTE}
    return tuple(note for mark, note in notes.items() if mark in map(bound_mark, verdicts))


def one_line(text: str, limit: int = 120) -> str:
    """Text on one line without control characters, cut at `limit`."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def label(arm: str, model: str, models: Sequence[str]) -> str:
    """The arm's name, with the model's where there are several."""
    return arm if len(models) < 2 else f"{arm} ({model})"


def _seconds(value_ns: int) -> str:
    value_s = value_ns / 1e9
    if 0 < value_s < 0.01:
        return f"{value_s:.4f}"
    return f"{value_s:.3f}" if value_s < 1 else f"{value_s:.2f}" if value_s < 10 else f"{value_s:.1f}"


def _fraction(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".removeprefix("0") if value < 1 else "1"
