"""Prompt size: uncached input + cache writes + cache reads, summed over the trial's turns."""

from __future__ import annotations

from loadrig.cost import prompt_tokens
from loadrig.words.record import Record

NAME = "tokens_in"
UNIT = "tokens"


def value(record: Record) -> float | None:
    """Tokens; None when the provider did not report the input. Unreported cache counters mean no caching."""
    usage = record.usage
    return None if usage is None or usage.input is None else prompt_tokens(usage)
