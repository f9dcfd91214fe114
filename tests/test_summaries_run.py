"""Summaries through the whole command: built once, paid for once, on the bill, kept apart by caller."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from command import Called, here, loadrig, only_run

from loadrig.analysis.bill import bill
from loadrig.config import read_plan
from loadrig.log import RunFolder, read_probes, read_prompts, read_run

PLAN = """\
name = "summed"
[corpus]
path = "corpora/tiny"
[questions]
path = "questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "SCENARIO"
[[arm]]
kind = "control"
[[arm]]
kind = "summaries"
words = 60
[load]
concurrency = [4]
warmup = 0
cycle = false
"""
QUICK = "base_ms = 5.0\nprefill_us_per_token = 0.0\ndecode_ms_per_token = 0.1\n"


def _write(folder: Path, scenario: str = QUICK, plan: str = PLAN) -> Path:
    (folder / "scenario.toml").write_text(scenario)
    path = folder / "plan.toml"
    path.write_text(plan.replace("SCENARIO", str(folder / "scenario.toml")))
    return path


def _line(run: RunFolder, name: str) -> Decimal:
    return next(Decimal(line.money.amount or "0") for line in bill(run).lines if line.name == name)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tuple[Called, RunFolder]], Path]:
    """The same plan run twice, with a cache folder of its own that is empty at first."""
    folder = tmp_path_factory.mktemp("summed")
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        plan = _write(folder)
        found = []
        for name in ("first", "second"):
            called = loadrig("run", plan, "--inline", "--out", folder / name)
            assert called.code == 0, called.err
            found.append((called, only_run(folder / name)))
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
    return found, folder


def test_each_document_is_summarised_once_before_the_first_trial(twice: tuple[Any, Path]) -> None:
    """Five calls for five documents, on record as what they were for; the trials are the plan's, and all answered."""
    (_, run), _ = twice[0]
    purposes = Counter(record.turns[-1].purpose for record in read_probes(run.path))
    assert purposes["summarise"] == 5
    assert Counter(record.arm for record in run.records) == {"control": 4, "summaries-w60-l8000": 4}
    assert {record.outcome for record in run.records} == {"answered"}
    (row,) = run.manifest["built"]
    assert (row["calls"], row["paid"], row["reason"]) == (5, 5, None)


def test_the_second_run_pays_nothing_and_knows_what_it_cost(twice: tuple[Any, Path]) -> None:
    """No call; the cost and the time are those of the first."""
    (_, first), (_, second) = twice[0]
    assert Counter(record.turns[-1].purpose for record in read_probes(second.path))["summarise"] == 0
    (then,), (now,) = first.manifest["built"], second.manifest["built"]
    assert (now["calls"], now["paid"], now["cost_now"]) == (5, 0, "0")
    assert [now[name] for name in ("cost", "made_from", "made_to")] == [
        then[name] for name in ("cost", "made_from", "made_to")
    ]


def test_the_bill_has_a_line_for_it_and_sums_up(twice: tuple[Any, Path]) -> None:
    """What the first paid stands on it, the second's line is nothing; the lines sum to the total in both."""
    (_, first), (_, second) = twice[0]
    assert _line(first, "summaries") == Decimal(first.manifest["built"][0]["cost"]) > 0
    assert _line(second, "summaries") == 0
    for run in (first, second):
        found = bill(run)
        assert sum(Decimal(line.money.amount or "0") for line in found.lines) == Decimal(found.total.amount or "0")


def test_both_runs_answer_from_the_same_summaries(twice: tuple[Any, Path]) -> None:
    """Prompts of the arm are the same byte for byte; they hold summaries and no document whole."""
    told = []
    for _, run in twice[0]:
        stored = read_prompts(run.path)
        bodies = {
            (record.question, b"".join(stored[part] for part in record.turns[0].prompt))
            for record in run.records
            if record.arm.startswith("summaries")
        }
        told.append(bodies)
    assert told[0] == told[1]
    assert all(b"summary of: " in body or b'title=\\"summary\\"' in body for _, body in told[0])


def test_the_report_shows_the_amortised_cost(twice: tuple[Any, Path]) -> None:
    """In report.md, on the terminal and in summary.json: the question with its share is dearer than without."""
    (called, run), _ = twice[0]
    assert "## Built beforehand" in (run.path / "report.md").read_text()
    assert "Built beforehand" in called.out
    (row,) = json.loads((run.path / "summary.json").read_text())["built"]
    assert Decimal(row["each"]) < Decimal(row["many"]) < Decimal(row["here"])


def test_a_run_that_is_taken_up_builds_nothing_anew(twice: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Two trials of the second run are lost: they are asked again, from the summaries that are kept."""
    _, (_, run) = twice[0]
    monkeypatch.setenv("XDG_CACHE_HOME", str(twice[1] / "cache"))
    folder = twice[1] / "taken" / run.path.name
    shutil.copytree(run.path, folder)
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[:-2]))
    called = loadrig("run", twice[1] / "plan.toml", "--inline", "--resume", folder)
    assert called.code == 0, called.err
    resumed = read_run(folder)
    assert {record.outcome for record in resumed.records} == {"answered"}
    assert [row["paid"] for row in resumed.manifest["built"]] in ([0, 0], [0])


def test_a_building_that_fails_costs_the_arm_not_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call is refused: the arm's trials fail and say why, the control's are asked; exit code 1."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    called = loadrig("run", _write(tmp_path, f"{QUICK}refuse_share = 1.0\n"), "--inline", "--out", tmp_path / "results")
    run = only_run(tmp_path / "results")
    assert called.code == 1
    assert run.manifest["status"] == "complete"
    outcomes = {(record.arm, record.outcome, record.reason) for record in run.records}
    assert outcomes == {("control", "unanswered", "refused"), ("summaries-w60-l8000", "failed", "arm_error")}
    assert run.manifest["built"][0]["reason"].startswith("refused")
    assert "has nothing to answer from" in called.err


def test_each_caller_has_summaries_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two callers, one document each and one that both may see: two artefacts of two calls, none shared, and neither
    caller's prompts hold a word of the other's document."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    texts = {
        "north": "The north gate opens at seven.",
        "south": "The south gate opens at nine.",
        "both": "Gates are green.",
    }
    rows = []
    for name, text in texts.items():
        (docs / f"{name}.md").write_text(text)
        rows.append({"id": name, "file": f"{name}.md"} | ({} if name == "both" else {"access": [name]}))
    (docs / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = [
        {"id": name, "category": "fact", "question": f"When does the {name} gate open?", "reference": "-",
         "gold": [name], "caller": [name]}
        for name in ("north", "south")
    ]  # fmt: skip
    (tmp_path / "asked.jsonl").write_text("\n".join(map(json.dumps, asked)))
    plan = PLAN.replace("corpora/tiny", str(docs)).replace("questions/tiny.jsonl", str(tmp_path / "asked.jsonl"))
    refused = loadrig("run", _write(tmp_path, plan=plan), "--inline", "--out", tmp_path / "results")
    assert (refused.code, "mixed_rights = true" in refused.err) == (2, True)
    path = _write(tmp_path, plan=plan.replace("words = 60", "words = 60\nmixed_rights = true"))
    called = loadrig("run", path, "--inline", "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    assert {(tuple(row["caller"]), row["calls"], row["paid"]) for row in run.manifest["built"]} == {
        (("north",), 2, 2), (("south",), 2, 2),
    }  # fmt: skip
    stored = read_prompts(run.path)
    for record in (*run.records, *read_probes(run.path)):
        body = b"".join(stored[part] for turn in record.turns for part in turn.prompt)
        other = {"north": b"at nine", "south": b"at seven"}.get(*record.caller) if record.caller else None
        assert other is None or other not in body


def test_the_plan_that_shows_it_is_a_plan() -> None:
    """Five arms, three of them with summaries; what building takes is foreseen."""
    assert "built beforehand, unless it is kept: up to " in here("plan", "plans/summaries.toml").out
    arms = [arm.name for arm in read_plan(Path("plans/summaries.toml")).arms]
    assert [name for name in arms if name.startswith("summaries")] == [
        "summaries", "summaries-w120-l1000", "summaries-read3",
    ]  # fmt: skip
