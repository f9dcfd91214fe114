"""The main job, end to end: the command on a real socket, its files, and the simulator's own log beside them."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from command import QUICK, Called, loadrig, only_run, write_plan

from loadrig.log import RunFolder, read_prompts
from loadrig.words.record import Record, Turn


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Called, RunFolder]:
    """One run of the quick plan, inline."""
    folder = tmp_path_factory.mktemp("run")
    called = loadrig("run", write_plan(folder), "--out", folder / "results")
    assert called.code == 0, called.err
    return called, only_run(folder / "results")


def _turns(run: RunFolder) -> Iterator[tuple[str, Record, Turn]]:
    """Each turn with the value of the header it was sent under."""
    for record in (*run.probes, *run.records):
        for number, turn in enumerate(record.turns, start=1):
            yield f"{record.trial}.{number}.{len(turn.attempts)}", record, turn


def _truth(run: RunFolder) -> dict[str, dict[str, object]]:
    every = [json.loads(line) for line in (run.path / "truth.jsonl").read_text().splitlines()]
    rows = [row for row in every if row["path"] == "/v1/messages"]
    assert len({row["attempt"] for row in rows}) == len(rows)
    return {row["attempt"]: row for row in rows}


def test_every_planned_trial_has_one_record(ran: tuple[Called, RunFolder]) -> None:
    """4 questions in 5 arms and 2 warm-up trials: 22 planned, 22 recorded, all answered."""
    run = ran[1]
    assert {trial.id for trial in run.trials} == {record.trial for record in run.records}
    assert Counter(record.outcome for record in run.records) == {"answered": 22}


def test_the_target_saw_exactly_the_requests_we_recorded(ran: tuple[Called, RunFolder]) -> None:
    """Same requests, same tokens of each kind, same text: nothing hidden, nothing counted twice."""
    run = ran[1]
    truth = _truth(run)
    sent = {name: turn for name, _, turn in _turns(run)}
    assert truth.keys() == sent.keys()
    for name, turn in sent.items():
        assert turn.usage is not None
        assert (turn.usage.input, turn.usage.output) == (truth[name]["input"], truth[name]["output"])
        text_sha256 = sha256(turn.text.encode()).hexdigest() if turn.text else None
        assert text_sha256 == truth[name]["text_sha256"]


def test_a_request_can_be_rebuilt_byte_for_byte(ran: tuple[Called, RunFolder]) -> None:
    """The fragments of prompts.jsonl, joined by a turn's hashes, are the body that the target received."""
    run = ran[1]
    truth, prompts = _truth(run), read_prompts(run.path)
    for name, _, turn in _turns(run):
        body = b"".join(prompts[digest] for digest in turn.prompt)
        assert sha256(body).hexdigest() == truth[name]["body_sha256"]


def test_the_target_never_saw_more_in_flight_than_asked_for(ran: tuple[Called, RunFolder]) -> None:
    """Four in flight: the target saw four at once, and never five."""
    assert max(row["in_flight"] for row in _truth(ran[1]).values()) == 4  # type: ignore[type-var]


def test_a_first_token_is_not_reported_before_it_was_sent(ran: tuple[Called, RunFolder]) -> None:
    """On one clock: sent by the target, then seen by us, for every turn."""
    run = ran[1]
    truth = _truth(run)
    for name, _, turn in _turns(run):
        seen_ns = turn.attempts[-1].first_token_ns
        assert seen_ns is not None
        assert seen_ns > truth[name]["first_token_ns"]  # type: ignore[operator]


def test_the_arms_differ_as_they_should(ran: tuple[Called, RunFolder]) -> None:
    """Control shows no document and is right nowhere; the others show some; the agent searches."""
    run = ran[1]
    by_arm = {arm: [record for record in run.records if record.arm == arm] for arm in ("control", "agentic")}
    assert not any(record.retrieved for record in by_arm["control"])
    tools = Counter(call.name for record in by_arm["agentic"] for turn in record.turns for call in turn.tool_calls)
    assert tools["search"] >= len(by_arm["agentic"])


def test_the_reports_are_there_and_strict(ran: tuple[Called, RunFolder]) -> None:
    """summary.json is strict JSON, report.md names the run, answers.csv has a row a trial, stdout says where."""
    called, run = ran

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads((run.path / "summary.json").read_text(), parse_constant=refuse)
    assert run.path.name in (run.path / "report.md").read_text()
    with (run.path / "answers.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 20
    assert f"Report: {run.path / 'report.html'}" in called.out.replace("\n", "")


def test_progress_speaks_from_the_first_second_on_standard_error(ran: tuple[Called, RunFolder]) -> None:
    """The first line comes at 0:00 or 0:01; the last has the count, failures, latency, marked or not, and cost."""
    lines = ran[0].err.splitlines()
    assert lines[0].startswith(("[0:00]", "[0:01]"))
    assert re.search(r"22/22 done; failed 0; (CLIENT-BOUND in c4 .*; )?TTFT p50", lines[-1])
    assert "cost USD" in lines[-1]


def test_no_key_is_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the environment reaches the target and no file, even when nothing listens."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret")
    called = loadrig("run", write_plan(tmp_path), "--out", tmp_path / "results", "--base-url", "http://127.0.0.1:9")
    assert called.code == 1
    run = only_run(tmp_path / "results")
    assert {record.reason for record in run.records} == {"connect"}
    files = (path.read_bytes() for path in run.path.rglob("*") if path.is_file())
    assert b"very-secret" not in b"".join(files) + (called.out + called.err).encode()


def test_a_run_that_fails_everywhere_still_reports(tmp_path: Path) -> None:
    """Every request refused: exit code 1, all failed with their reason, latencies null and no zero."""
    scenario = tmp_path / "refusing.toml"
    scenario.write_text("rate_529 = 1.0\n")
    called = loadrig("run", write_plan(tmp_path), "--out", tmp_path / "results", "--scenario", scenario)
    assert called.code == 1, called.err
    run = only_run(tmp_path / "results")
    assert Counter((r.outcome, r.reason) for r in run.records) == {("failed", "overloaded"): 22}
    summary = json.loads((run.path / "summary.json").read_text())
    assert [arm["service"]["ok"] for arm in summary["arms"]] == [0] * 5
    assert [arm["service"]["successes"]["p50"] for arm in summary["arms"]] == [None] * 5


def test_runs_of_one_plan_give_the_same_trials_and_answers(ran: tuple[Called, RunFolder], tmp_path: Path) -> None:
    """A second run asks the same in the same order and, of the seeded simulator, hears the same."""
    called = loadrig("run", write_plan(tmp_path, QUICK), "--out", tmp_path / "results")
    assert called.code == 0, called.err
    first, second = ran[1], only_run(tmp_path / "results")
    assert first.trials == second.trials
    answers = [{record.trial: (record.answer, record.usage) for record in run.records} for run in (first, second)]
    assert answers[0] == answers[1]
