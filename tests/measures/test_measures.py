"""One contract for every measure in the table, and the value of each on one record."""

from __future__ import annotations

import pytest
from records import MS, S, record, turn

from loadrig.measures import ALL, measure
from loadrig.words.record import Gaps, ToolCall, Usage

CALL = ToolCall("search", "{}", ok=True, docs=(), ns=1)
FULL = record(
    "t1",
    usage=Usage(input=12, cache_write_5m=30, cache_read=8000, output=200),
    cost="0.005",
    scheduled_ns=3 * S,
    dispatch_delay_ns=2 * S,
    turns=(
        turn(gaps=Gaps(2, 10, 20, 30), tool_calls=(CALL, CALL)),
        turn(gaps=Gaps(2, 10, 20, 25), tpot_ns=50 * MS, tool_calls=(CALL,)),
    ),
)
EXPECTED = {
    "ttft": 100 * MS, "ttfat": 200 * MS, "service": S, "tpot": 50 * MS, "gap_max": 30, "tokens_in": 8042,
    "tokens_out": 200, "cost": 0.005, "turns": 2, "tool_calls": 3, "scheduled": 3 * S, "dispatch_delay": 2 * S,
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_every_measure_keeps_the_contract(name: str) -> None:
    """A listed measure carries its own name and a unit, and has no value, not 0, for a trial that was not run."""
    listed = measure(name)
    empty = record("t2", outcome="not_run", reason="stopped", service_ns=None, trial_ttft_ns=None, ttfat_ns=None)
    assert name == listed.NAME
    assert listed.UNIT
    assert listed.value(empty) is None


@pytest.mark.parametrize("name", ALL)
def test_the_value_of_every_measure(name: str) -> None:
    """Each listed measure of one record of two turns; a new measure adds its value here."""
    assert measure(name).value(FULL) == EXPECTED[name]


def test_unreported_input_is_not_zero() -> None:
    """Without the input count there is no prompt size, whatever the cache counters say."""
    assert measure("tokens_in").value(record("t1", usage=Usage(cache_read=5, output=1))) is None
