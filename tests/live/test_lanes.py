"""Figures by arm and model, by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from records import MS, S, failed, record, turn

from loadrig.live.lanes import Lanes, Row
from loadrig.words.record import Record, Usage


def ended(arm: str = "rag", **given: Any) -> Record:
    """A measured trial of 1 s with a first token after 64 ms, 20 output tokens, for 0.01."""
    usage = Usage(input=100, output=20)
    return record("t1", **{"arm": arm, "turns": (turn(ttft_ns=64 * MS),), "usage": usage, "cost": "0.01", **given})


def rows(*records: Record, at_s: int = 5) -> list[Row]:
    """Of a run that began at 0 and whose trials all ended at 1 s, looked at later."""
    lanes = Lanes()
    lanes.start(0)
    for one in records:
        lanes.add(one, S)
    return list(lanes.rows(at_s * S))


def test_each_arm_and_model_has_a_row() -> None:
    """Two arms, one of them with two models: three rows, in the order in which they came."""
    found = rows(ended(), ended("control"), ended(model="m2"), failed("f", arm="control"))
    assert [(row.arm, row.model, row.done, row.failed) for row in found] == [
        ("rag", "m", 1, 0), ("control", "m", 2, 1), ("rag", "m2", 1, 0),
    ]  # fmt: skip


def test_an_arm_that_will_come_has_a_row_already() -> None:
    """Before its first trial an arm shows nothing done and no figure, which is not 0."""
    lanes = Lanes()
    lanes.expect([("rag", "m")])
    (row,) = lanes.rows(S)
    assert (row.done, row.ttft_now.p50_ns, row.service.n, row.tokens_per_s, row.cost) == (0, None, 0, None, None)


def test_now_is_ten_seconds_and_so_far_is_the_stage() -> None:
    """Eleven seconds later nothing is recent, and the stage's two trials are still there."""
    (row,) = rows(ended(), ended(), at_s=12)
    assert (row.service_now.n, row.ttft_now.n, row.service.n, row.ttft.n) == (0, 0, 2, 2)
    (row,) = rows(ended(), ended())
    assert (row.service_now.n, row.service_now.p50_ns) == (2, row.service.p50_ns)


def test_warm_up_is_recent_and_not_so_far() -> None:
    """A warm-up trial says what goes on; it is none of what is measured."""
    (row,) = rows(ended(phase="warmup"), ended(service_ns=3 * S))
    assert (row.service_now.n, row.service.n, row.ttft_now.n, row.ttft.n) == (2, 1, 2, 1)


def test_a_stage_begins_anew() -> None:
    """Figures of two loads are not mixed: after the first trial of c4, of every arm only what c4 did is left."""
    found = rows(ended(stage="c2"), ended("control", stage="c2"), ended(stage="c4"))
    assert [(row.service.n, row.done) for row in found] == [(1, 2), (0, 1)]


def test_tokens_a_second_are_of_what_was_told() -> None:
    """Two trials of 20 tokens in the first 5 s are 8 a second; after 20 s of a run ten seconds count; none told is
    none known."""
    assert [row.tokens_per_s for row in rows(ended(), ended())] == [8]
    lanes = Lanes()
    lanes.add(ended(), 15 * S)
    assert [row.tokens_per_s for row in lanes.rows(20 * S)] == [2]
    assert [row.tokens_per_s for row in rows(ended(usage=None))] == [None]


def test_cost_says_what_it_lacks() -> None:
    """One trial of two without a price: the other's 0.01, and partial; a trial that was never sent lacks nothing."""
    (row,) = rows(ended(), ended(cost=None))
    assert (row.cost, row.is_partial) == (Decimal("0.01"), True)
    (row,) = rows(ended(), ended(cost=None, outcome="not_run", reason="stopped", turns=(), usage=None))
    assert (row.cost, row.is_partial, row.done) == (Decimal("0.01"), False, 1)
