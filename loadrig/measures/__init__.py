"""Measures: one number of one trial, each a file with `NAME`, `UNIT` and `value`; a new one is a file and a line here.

None means that the trial has no such number; it is left out of averages, never taken for 0. `ALL` are measures of a
record alone, `value(record)`; `OF_ANSWER` those that look at the answer and at what is known of question and corpus,
`value(record, context)`: they are rules, not grades. (`recall` is neither: it is asked for by document and by quote.)
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from loadrig.measures.context import Context
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
OF_ANSWER = {
    "stale": "loadrig.measures.stale",
    "invented": "loadrig.measures.invented",
    "trap_taken": "loadrig.measures.trap_taken",
    "opening": "loadrig.measures.opening",
    "declined": "loadrig.measures.declined",
    "dates_cited": "loadrig.measures.dates_cited",
    "dates_fabricated": "loadrig.measures.dates_fabricated",
    "dates_misplaced": "loadrig.measures.dates_misplaced",
    "ids_cited": "loadrig.measures.ids_cited",
    "ids_fabricated": "loadrig.measures.ids_fabricated",
    "recency_claims": "loadrig.measures.recency_claims",
    "recency_wrong": "loadrig.measures.recency_wrong",
    "ill_sourced": "loadrig.measures.ill_sourced",
    "retrieval_miss": "loadrig.measures.retrieval_miss",
    "reading_miss": "loadrig.measures.reading_miss",
    "loud": "loadrig.measures.loud",
    "silent": "loadrig.measures.silent",
    "silent_cited": "loadrig.measures.silent_cited",
}


class Measure(Protocol):
    """A module of this folder. `NAME` is its key in `ALL`; `UNIT` is ns, tokens, a currency, or a count's noun."""

    NAME: str
    UNIT: str

    def value(self, record: Record) -> float | None: ...


class AnswerMeasure(Protocol):
    """A module of this folder that `OF_ANSWER` lists. A `UNIT` of `answers`: the value is 1 or 0, its mean a share."""

    NAME: str
    UNIT: str

    def value(self, record: Record, context: Context) -> float | None: ...


def measure(name: str) -> Measure:
    """The measure of that name; `KeyError` when there is none."""
    return cast("Measure", import_module(ALL[name]))


def answer_measure(name: str) -> AnswerMeasure:
    """The measure of answers of that name; `KeyError` when there is none."""
    return cast("AnswerMeasure", import_module(OF_ANSWER[name]))
