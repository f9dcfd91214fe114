"""Decomposition in a run: two turns a question, told apart, both paid for, and the question's way on its record."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from tenants import fired

from loadrig.analysis.bill import bill
from loadrig.config import read_plan
from loadrig.log import RunFolder
from loadrig.words.record import Record

PLAN = Path(__file__).resolve().parents[1] / "plans" / "decompose.toml"
ARM = "decompose-bm25-k5"


@pytest.fixture(scope="module")
def decomposed(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The plan's first four questions."""
    plan = read_plan(PLAN)
    return fired(replace(plan, questions=replace(plan.questions, limit=4)), tmp_path_factory.mktemp("run"))


def records(run: RunFolder) -> list[Record]:
    found = [record for record in run.records if record.arm == ARM]
    assert len(found) == 4
    return found


def test_the_first_turn_splits_and_the_second_answers(decomposed: RunFolder) -> None:
    """Each is on record with what it was for; the time to the first answer token is that of the second."""
    for record in records(decomposed):
        assert [turn.purpose for turn in record.turns] == ["decompose", "answer"]
        assert record.outcome == "answered"
        assert record.ttfat_ns is not None
        assert record.trial_ttft_ns is not None
        assert record.ttfat_ns > record.trial_ttft_ns


def test_both_turns_are_paid_by_the_question(decomposed: RunFolder) -> None:
    """A trial's money is the sum of its turns', and the bill's that of all trials'."""
    for record in records(decomposed):
        costs = [Decimal(turn.cost or "nan") for turn in record.turns]
        assert min(costs) > 0
        assert Decimal(record.cost or "nan") == sum(costs)
    whole = sum(Decimal(record.cost or "nan") for record in (*decomposed.records, *decomposed.probes))
    assert Decimal(bill(decomposed).total.amount or "nan") == whole


def test_what_was_split_was_searched_for_in_parts(decomposed: RunFolder) -> None:
    """Some of these questions can be cut and some cannot: five passages of a whole one, more of one in parts."""
    ways = {record.route: len(record.retrieved) for record in records(decomposed)}
    assert ways.keys() == {"split", "whole"}
    assert ways["whole"] == 5
    assert 5 < ways["split"] <= 20
