"""Measures: one number of one trial, each in a file with `NAME`, `UNIT` and `value(record) -> float | None`.

None means that the trial has no such number; it is left out of averages, never taken for 0. `ALL` is the table:
a new measure is one file and one line. (`recall` is no measure of a record alone: it needs the question.)
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from loadrig.words.record import Record

ALL = {
    "ttft": "loadrig.measures.ttft",
    "ttfat": "loadrig.measures.ttfat",
    "service": "loadrig.measures.service",
    "scheduled": "loadrig.measures.scheduled",
    "dispatch_delay": "loadrig.measures.dispatch_delay",
    "tpot": "loadrig.measures.tpot",
    "gap_max": "loadrig.measures.gap_max",
    "tokens_in": "loadrig.measures.tokens_in",
    "tokens_out": "loadrig.measures.tokens_out",
    "cost": "loadrig.measures.cost",
    "turns": "loadrig.measures.turns",
    "tool_calls": "loadrig.measures.tool_calls",
}


class Measure(Protocol):
    """A module of this folder. `NAME` is its key in `ALL`; `UNIT` is ns, tokens, a currency, or a count's noun."""

    NAME: str
    UNIT: str

    def value(self, record: Record) -> float | None: ...


def measure(name: str) -> Measure:
    """The measure of that name; `KeyError` when there is none."""
    return cast("Measure", import_module(ALL[name]))
