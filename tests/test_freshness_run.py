"""Documents that change in mid-run, end to end: in every fleet, with workers and drivers killed, and taken up again."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import LOADRIG, QUICK, Called, loadrig, only_run, write_plan

from loadrig.log import read_changes, read_prompts, read_run
from loadrig.words.change import AFTER, BEFORE
from loadrig.words.record import Record

ROOT = Path(__file__).resolve().parents[1]
APPLES = ROOT / "corpora" / "tiny" / "trees" / "apples.md"
OLD, NEW = b"pruned in February", b"pruned in November"
MORE = """\
[[arm]]
kind = "rag"
retriever = "slow_index:build"
k = 5
[[arm]]
kind = "full_context"
cache = "5m"
[load]"""
S = 1_000_000_000
LINES = (ROOT / "docs" / "freshness.md").read_text().splitlines()
COMMANDS = [line.partition("#")[0].strip() for line in LINES if line.startswith("    .venv/bin/loadrig ")]


def _plan(folder: Path, load: str, *, workers: int = 1, after_s: float = 1.5) -> Path:
    """The quick plan with a rag whose index takes a second to build, and another month for the apples after so long."""
    new = folder / "new" / "trees"
    new.mkdir(parents=True, exist_ok=True)
    (new / "apples.md").write_text(APPLES.read_text().replace("in February", "in November"))
    rows = [json.loads(line) for line in (ROOT / "questions" / "tiny.jsonl").read_text().splitlines()]
    (key,) = (row for row in rows if row["id"] == "tiny-ag-01")
    quote = {"doc": "trees/apples.md", "quote": "Apples are pruned in November"}
    key |= {"must_contain": ["November", "July"], "stale": ["February"], "evidence": [quote]}
    (folder / "keys.jsonl").write_text(json.dumps(key) + "\n")
    update = f'[update]\npath = "{folder}/new"\nafter_s = {after_s}\nquestions = "{folder}/keys.jsonl"\n'
    text = QUICK.replace("k = [1, 5]", "k = 5").replace("[load]", f"{MORE}\n{load}")
    text = text.replace("workers = 1", f"workers = {workers}\ncpus_per_worker = 0.5")
    path = write_plan(folder, text.replace("[[model]]", update + "[[model]]", 1))
    with (folder / "fast.toml").open("a") as scenario:
        scenario.write("cache_minimum_tokens = 100\n")
    return path


@pytest.fixture(autouse=True)
def _has_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow retriever is found by the run and by all its processes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def _arms(folder: Path) -> dict[str, Any]:
    summary = json.loads((folder / "summary.json").read_text())
    return {arm["arm"]: arm for arm in summary["freshness"]["arms"]}


def _held(folder: Path, records: list[Record]) -> list[tuple[bool, bool]]:
    """Whether each request of these records held the old text, and the new."""
    prompts = read_prompts(folder)
    bodies = [b"".join(prompts[one] for one in turn.prompt) for record in records for turn in record.turns]
    return [(OLD in body, NEW in body) for body in bodies]


@pytest.mark.parametrize("fleet", ["process", pytest.param("ray", marks=pytest.mark.ray)])
def test_each_arm_sees_a_changed_document_when_it_can(fleet: str, tmp_path: Path) -> None:
    """In one run: the control never; full context and a read at once; a search when its index is built anew, of which
    one takes a second. What the report says of requests is what their bytes say."""
    plan = _plan(tmp_path, "duration_s = 4", workers=2)
    called = loadrig("run", plan, "--out", tmp_path / "results", "--fleet", fleet)
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    arms, fresh = _arms(run.path), json.loads((run.path / "summary.json").read_text())["freshness"]
    assert arms["control"]["seen"]["requests"] > 0
    assert (arms["control"]["seen"]["seen_ns"], arms["control"]["seen"]["let_go_ns"]) == (None, None)
    full, quick, slow = (arms[name]["seen"] for name in ("full_context", "rag-bm25-k5", "rag-slow_index.build-k5"))
    error_ns = max(one["error_ns"] for one in fresh["workers"])
    assert -error_ns <= full["seen_ns"] < quick["seen_ns"] < slow["seen_ns"]
    assert slow["seen_ns"] > S
    assert full["let_go_ns"] < quick["let_go_ns"] < slow["let_go_ns"]
    assert quick["let_go_ns"] < max(one["indexes"]["bm25"]["ready_ns"] for one in fresh["workers"])
    assert {one["worker"] for one in fresh["workers"]} == {"w1", "w2"}
    by_bytes = _held(run.path, [record for record in run.records if record.arm == "full_context"])
    assert sum(new for _, new in by_bytes) == full["new"]
    cache = arms["full_context-cache5m"]["cache"]
    assert cache["first"] > 100
    assert 1 <= cache["writing"] <= 4 < cache["n"]  # no more than were in flight before the first was readable
    assert cache["written"] == cache["writing"] * cache["first"]
    assert not any(old and new for old, new in by_bytes)
    assert {record.corpus_version for record in run.records} == {BEFORE, AFTER}
    assert "Freshness: documents that changed in mid-run" in (run.path / "report.md").read_text()
    assert "documents changed in mid-run: accuracy" in called.out


def _changed(plan: Path, results: Path, *flags: str) -> tuple[subprocess.Popen[str], Path]:
    """A run in a process of its own in which documents have just changed, and its folder."""
    process = subprocess.Popen(
        [*LOADRIG, "run", str(plan), "--out", str(results), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def has_changed() -> bool:
        assert process.poll() is None, process.communicate()
        return any(read_changes(path.parent).adopted for path in results.glob("*/changes.jsonl"))

    _wait_for(has_changed)
    (folder,) = results.iterdir()
    return process, folder


def _wait_for(what: Callable[[], bool], within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def _resumed(plan: Path, folder: Path) -> Called:
    return loadrig("run", plan, "--resume", folder, "--inline")


def test_a_worker_killed_while_its_index_is_built_loses_its_own_trials_alone(tmp_path: Path) -> None:
    """kill -9 just after the change: the sum holds, the other worker's index is new all the same, though the first one
    may have held the lock."""
    plan = _plan(tmp_path, "duration_s = 4", workers=2)
    process, folder = _changed(plan, tmp_path / "results", "--fleet", "process")
    os.kill(json.loads((folder / "manifest.json").read_text())["workers"][0]["pid"], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    run = read_run(folder)
    assert {record.outcome for record in run.records if record.reason != "lost"} == {"answered"}
    assert {record.worker for record in run.records if record.reason == "lost"} == {"w1"}
    assert len(run.records) == len(run.trials)
    summary = json.loads((folder / "summary.json").read_text())
    (other,) = (one for one in summary["freshness"]["workers"] if one["worker"] == "w2")
    assert other["indexes"]["slow_index:build"]["ready_ns"] > S


def test_a_run_taken_up_after_the_change_goes_on_with_the_new_documents(tmp_path: Path) -> None:
    """kill -9 of the driver: what is asked after --resume begins with the new version, in every arm, and no request of
    it holds the old text; documents do not change a second time."""
    plan = _plan(tmp_path, "cycle = true\nleast = 72", after_s=0.7).read_text().replace("cycle = false\n", "")
    (path := tmp_path / "quick.toml").write_text(plan)
    process, folder = _changed(path, tmp_path / "results", "--inline")
    process.kill()
    process.communicate(timeout=60)
    before = {(record.trial, record.try_no) for record in read_run(folder).records}
    called = _resumed(path, folder)
    assert called.code == 0, called.err
    run = read_run(folder)
    later = [record for record in run.records if (record.trial, record.try_no) not in before]
    assert {record.corpus_version for record in later} == {AFTER}
    assert {"rag-bm25-k5", "rag-slow_index.build-k5", "full_context"} <= {record.arm for record in later}
    held = _held(folder, later)
    assert not any(old for old, _ in held)
    assert any(new for _, new in held)
    made = [line for line in (folder / "changes.jsonl").read_text().splitlines() if '"made"' in line]
    assert len(made) == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_the_pages_command_works(line: str, tmp_path: Path) -> None:
    """Made short: it may end before documents change, or while they do; the report has a place for it."""
    called = loadrig(*shlex.split(line)[1:], "--out", tmp_path, "--duration", "2", "--inline")
    assert called.code == 0, called.err
    assert json.loads((only_run(tmp_path).path / "summary.json").read_text())["freshness"]["after_s"] == 4
