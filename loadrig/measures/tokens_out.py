"""Output tokens, thinking included, summed over the trial's turns."""

from __future__ import annotations

from loadrig.words.record import Record

NAME = "tokens_out"
UNIT = "tokens"


def value(record: Record) -> float | None:
    """Tokens; None when the provider did not report them."""
    return None if record.usage is None else record.usage.output
