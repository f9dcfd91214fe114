"""An agent that goes in circles and one that spends its budget, whole: socket, worker, record, report."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_server import Script
from small_run import Fired, fire
from stream_events import blk, delta, json_, start, stop, txt

from loadrig.arms.agentic import Agentic
from loadrig.reports.behaviour import tables
from loadrig.words.settings import ModelSettings, QuestionSettings
from plans import plan

ONE = QuestionSettings(path="questions/tiny.jsonl", limit=1)
TURN = start() + blk("tool_use", name="search")


def called(query: str, output: int) -> Script:
    """A turn that searches and reports so many output tokens; what `start` reports of the prompt comes on top."""
    return Script([(0, TURN + json_(f'{{"query":"{query}"}}') + delta("tool_use", {"output_tokens": output}) + stop())])


@pytest.fixture(scope="module")
def circling(tmp_path_factory: pytest.TempPathFactory) -> Fired:
    """Four questions, an agent that never does anything else than its first search."""
    folder = tmp_path_factory.mktemp("circles")
    scenario = folder / "circles.toml"
    scenario.write_text("base_ms = 2.0\ndecode_ms_per_token = 0.01\ngoes_in_circles = 1.0\n")
    return fire(plan(Agentic(), model=(ModelSettings(id="m-1"),)), {"m-1": scenario}, folder)


def test_a_loop_is_a_reason_of_its_own(circling: Fired) -> None:
    """C-08: unanswered/loop after four turns; the third call is on record as withheld, tokens of all turns count."""
    for record in circling.run.records:
        assert (record.outcome, record.reason, len(record.turns)) == ("unanswered", "loop", 4)
        calls = [call for turn in record.turns for call in turn.tool_calls if call.name == "search"]
        assert [call.withheld for call in calls] == [None, None, "loop"]
        assert [call.repeated for call in calls] == [False, True, True]
        assert record.usage is not None
        assert record.usage.output == sum(turn.usage.output or 0 for turn in record.turns if turn.usage)


def test_the_report_shows_loops(circling: Fired) -> None:
    """All trials were told and ended so; repeated calls are counted."""
    n, first = len(circling.run.records), [record.turns[0].tool_calls for record in circling.run.records]
    use = circling.summary.behaviour.tools[0].categories[0].use
    assert (use.warned, use.looped, use.repeated, use.overdrawn, use.spent) == (n, n, 2 * sum(map(len, first)), 0, 0)
    (table,) = (table for table in tables(circling.summary) if table.title == "Agentic behaviour")
    assert table.rows[0][-2:] == (f"{n}/{n}", "0/0")


def test_the_budget_is_of_prompt_and_output_as_reported(tmp_path: Path) -> None:
    """C-08: a turn reports 9 prompt and 500 output tokens: four pass 2,020, so the third is to answer, and calls."""
    scripts = [called(word, 500) for word in ("key", "gate", "tree", "crate")]
    small = plan(Agentic(token_budget=2020), model=(ModelSettings(id="m-1"),), questions=ONE)
    (record,) = fire(small, {"m-1": scripts}, tmp_path).run.records
    assert (record.outcome, record.reason, len(record.turns)) == ("unanswered", "budget", 3)
    assert [call.withheld for turn in record.turns for call in turn.tool_calls] == [None, "budget"]
    assert record.usage is not None
    assert record.usage.output == 1500


def test_an_answer_in_the_last_turn_is_an_answer(tmp_path: Path) -> None:
    """Told that the budget is spent, the model answers: answered, and the report says that one was told."""
    said = Script([(0, start() + blk("text") + txt("Yes") + delta("end_turn") + stop())])
    small = plan(Agentic(token_budget=500), model=(ModelSettings(id="m-1"),), questions=ONE)
    found = fire(small, {"m-1": [called("key", 500), said]}, tmp_path)
    (record,) = found.run.records
    assert (record.outcome, record.answer, len(record.turns)) == ("answered", "Yes", 2)
    use = found.summary.arms[0].tools
    assert (use.overdrawn, use.spent, use.warned) == (1, 0, 0)
