"""Routing over a real socket: the plan that comes along, made quick, and a classifier that thinks too long."""

from __future__ import annotations

import io
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from loadrig.analysis.summary import Summary, summarize
from loadrig.arms.route import Route
from loadrig.config import read_plan
from loadrig.execution.execute import execute
from loadrig.execution.options import Options
from loadrig.live.progress import Progress
from loadrig.log import RunFolder, read_run
from loadrig.reports.markdown import render
from loadrig.words.settings import Plan

QUICK = "base_ms = 1.0\nprefill_us_per_token = 0.0\ndecode_ms_per_token = 0.02\n"


def fired(folder: Path, *, scenario: str = "", **changes: Any) -> RunFolder:
    """plans/routing.toml with 20 questions, over a quick simulator with these dials more."""
    dials = folder / "quick.toml"
    dials.write_text(QUICK + scenario)
    plan: Plan = read_plan(Path("plans/routing.toml"))
    plan = replace(
        plan,
        model=tuple(replace(model, scenario=str(dials)) for model in plan.model),
        questions=replace(plan.questions, limit=20),
        load=replace(plan.load, warmup=0),
        **changes,
    )
    with Progress(io.StringIO()) as progress:
        return read_run(execute(plan, Options(out=folder, inline=True, confirmed=True), progress).folder)


@pytest.fixture(scope="module")
def routed(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return fired(tmp_path_factory.mktemp("routing"))


@pytest.fixture(scope="module")
def summary(routed: RunFolder) -> Summary:
    return summarize(routed)


def test_every_answer_of_a_router_has_its_way(routed: RunFolder) -> None:
    """20 questions an arm, all answered; by rules three kinds, by the classifier none that fell back."""
    ways = {arm: [r.route or "" for r in routed.records if r.arm == arm] for arm in ("route-rules", "route-classifier")}
    assert [len(found) for found in ways.values()] == [20, 20]
    assert {route.split(">")[0] for route in ways["route-rules"]} == {"lookup", "whole_set", "unsure"}
    kinds = {route.split(">")[0] for route in ways["route-classifier"]}
    assert kinds <= {"lookup", "multi_hop", "whole_set", "unsure"}
    assert len(kinds) > 1
    assert all(record.outcome == "answered" for record in routed.records)


def test_answers_in_a_form_are_shown_as_plain_text(routed: RunFolder) -> None:
    """What is kept of an escalating arm is the answer; its turn has the JSON, with the confidence that is on record."""
    kept = [record for record in routed.records if record.arm == "escalate" and record.route == "rag"]
    assert kept
    assert all(record.confidence is not None and record.confidence >= 0.8 for record in kept)
    assert all(not record.answer.startswith("{") and record.turns[-1].text.startswith("{") for record in kept)


def test_the_classifier_is_a_line_of_the_bill(routed: RunFolder, summary: Summary) -> None:
    """20 turns that classify, of one arm; their line is their cost, and the lines sum to the total."""
    turns = [(record.arm, turn) for record in routed.records for turn in record.turns if turn.purpose == "classify"]
    assert {arm for arm, _ in turns} == {"route-classifier"}
    assert len(turns) == 20
    lines = {line.name: Decimal(line.money.amount or "x") for line in summary.bill.lines}
    assert lines["classifier"] == sum(Decimal(turn.cost or "x") for _, turn in turns) > 0
    assert sum(lines.values()) == Decimal(summary.bill.total.amount or "x")


def test_routers_stand_beside_one_way_for_all(summary: Summary) -> None:
    """Three arms with ways, each beside rag and full context, over the questions with a key that nobody knew."""
    assert {(one.arm, one.against) for one in summary.routing.beside} == {
        (arm, other)
        for arm in ("route-rules", "route-classifier", "escalate")
        for other in ("full_context", "rag-bm25-k8")
    }
    assert all(one.n == one.cost_n == 20 for one in summary.routing.beside)
    assert [one.arm for one in summary.routing.reliability][-1] == "escalate"
    assert summary.routing.reliability[-1].n == 20


def test_the_report_tells_of_it(summary: Summary) -> None:
    """Each table under its title."""
    text = render(summary)
    for title in ("Routes", "Routers beside one way for all", "How sure, and how right"):
        assert f"\n## {title}\n" in text


def test_a_classifier_that_thinks_too_long_falls_back(tmp_path: Path) -> None:
    """C-04: 300 tokens of thinking do not leave room in 256: every question is retrieved, and the record says why."""
    found = fired(tmp_path, scenario="thinking_tokens = 300\n", arms=(Route(by="classifier"),))
    assert {(record.route, record.route_note, record.outcome) for record in found.records} == {
        ("fallback>rag", "fallback: max_tokens", "answered")
    }
