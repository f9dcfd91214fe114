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

import pytest
from command import LOADRIG, QUICK, loadrig, only_run, write_plan

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


def _plan(folder: Path, load: str = "duration_s = 100", *, workers: int = 1, after_s: float = 1.0) -> Path:
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
    text = text.replace("concurrency = [4]", "concurrency = [8]").replace(
        "workers = 1", f"workers = {workers}\ncpus_per_worker = 0.5"
    )
    path = write_plan(folder, text.replace("[[model]]", update + "[[model]]", 1))
    with (folder / "fast.toml").open("a") as scenario:
        scenario.write("cache_minimum_tokens = 100\n")
    return path


@pytest.fixture(autouse=True)
def _has_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow retriever is found by the run and by all its processes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


def _held(folder: Path, records: list[Record]) -> list[tuple[bool, bool]]:
    """Whether each request of these records held the old text, and the new."""
    prompts = read_prompts(folder)
    bodies = [b"".join(prompts[one] for one in turn.prompt) for record in records for turn in record.turns]
    return [(OLD in body, NEW in body) for body in bodies]


@pytest.mark.parametrize("fleet", ["process", pytest.param("ray", marks=pytest.mark.ray)])
def test_each_arm_sees_a_changed_document_when_it_can(fleet: str, tmp_path: Path) -> None:
    """In one run: the control never; full context with the next prompt, whose cache is written again; a search when its
    index is built anew, of which one takes a second longer. What is said of requests is what their bytes say."""
    process, folder = _changed(_plan(tmp_path, workers=2), tmp_path / "results", "--fleet", fleet)
    _stop(process, folder, when=lambda: _is_new(folder, "w1") and _is_new(folder, "w2"))
    run, fresh = read_run(folder), json.loads((folder / "summary.json").read_text())["freshness"]
    arms = {arm["arm"]: arm for arm in fresh["arms"]}
    assert arms["control"]["seen"]["requests"] > 0
    assert (arms["control"]["seen"]["seen_ns"], arms["control"]["seen"]["let_go_ns"]) == (None, None)
    full = arms["full_context"]["seen"]
    for worker in fresh["workers"]:
        quick, slow = (worker["indexes"][name]["ready_ns"] for name in ("bm25", "slow_index:build"))
        assert slow > S  # whoever built it, and however late this worker's own process came to it
        assert worker["indexes"]["slow_index:build"]["build_ns"] >= S
        assert abs(worker["changed_ns"]) < S // 2
        assert -worker["error_ns"] <= full["seen_ns"]
        assert full["let_go_ns"] < quick
        for name, ready_ns in (("rag-bm25-k5", quick), ("rag-slow_index.build-k5", slow)):
            assert arms[name]["workers"][worker["worker"]]["seen_ns"] > ready_ns - S // 20
    cache = arms["full_context-cache5m"]["cache"]
    assert cache["first"] > 100
    assert 1 <= cache["writing"] <= 8 < cache["n"]  # no more than were in flight before the first was readable
    assert cache["written"] == cache["writing"] * cache["first"]
    held = _held(folder, [record for record in run.records if record.arm == "full_context"])
    assert sum(new for _, new in held) == full["new"] > 0
    assert not any(old and new for old, new in held)
    assert {record.corpus_version for record in run.records if record.outcome == "answered"} == {BEFORE, AFTER}
    assert "Freshness: documents that changed in mid-run" in (folder / "report.md").read_text()


def _begun(plan: Path, *flags: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*LOADRIG, "run", str(plan), *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _changed(plan: Path, results: Path, *flags: str) -> tuple[subprocess.Popen[str], Path]:
    """A run in a process of its own in which documents have just changed, and its folder."""
    process = _begun(plan, "--out", str(results), *flags)

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


def _is_new(folder: Path, worker: str) -> bool:
    """Whether the worker searches in the index that takes a second to build, built anew."""
    told = {one.worker: one.adoption.indexes for one in read_changes(folder).adopted}
    return "slow_index:build" in told.get(worker, {})


def _stop(process: subprocess.Popen[str], folder: Path, *, when: Callable[[], bool]) -> None:
    """Ends the run once that is so and every arm has been asked every question since: a repetition has 24 trials."""
    _wait_for(when)
    most = len(read_run(folder).records) + 50
    _wait_for(lambda: len((folder / "records.jsonl").read_bytes().splitlines()) > most)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err


def test_a_worker_killed_while_its_index_is_built_loses_its_own_trials_alone(tmp_path: Path) -> None:
    """kill -9 just after the change: no other trial is lost, and the other worker's index is new all the same, though
    the first one may have held the lock."""
    process, folder = _changed(_plan(tmp_path, workers=2), tmp_path / "results", "--fleet", "process")
    os.kill(json.loads((folder / "manifest.json").read_text())["workers"][0]["pid"], signal.SIGKILL)
    _stop(process, folder, when=lambda: _is_new(folder, "w2"))
    run = read_run(folder)
    sent = [record for record in run.records if record.outcome != "not_run"]
    assert {record.outcome for record in sent if record.reason != "lost"} == {"answered"}
    assert {record.worker for record in sent if record.reason == "lost"} == {"w1"}
    assert len(run.records) == len(run.trials)
    assert _held(folder, sent[-1:])  # what is on file can be judged


def _stopped_at_its_first_record(path: Path, results: Path) -> Path:
    process = _begun(path, "--out", str(results), "--inline")
    _wait_for(lambda: any(one.stat().st_size > 200 for one in results.glob("*/records.jsonl")))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    (folder,) = results.iterdir()
    return folder


def test_a_run_that_is_taken_up_knows_which_documents_hold(tmp_path: Path) -> None:
    """Stopped at its first record, a run changes documents when it is taken up, by that part's clock. The driver killed
    after that, what is asked once more begins with the new version in every arm, and none of it holds the old text."""
    for after_s in (3, 9, 27):  # a busy machine may need longer for a first record
        results = tmp_path / f"results-{after_s}"
        path = _plan(tmp_path, f"cycle = true\nleast = {80 * after_s}", after_s=after_s)
        path.write_text(path.read_text().replace("cycle = false\n", ""))
        folder = _stopped_at_its_first_record(path, results)
        if read_changes(folder).made is None:
            break
    assert read_changes(folder).made is None
    second = _begun(path, "--resume", str(folder), "--inline")
    _wait_for(lambda: bool(read_changes(folder).adopted))
    second.kill()
    second.communicate(timeout=60)
    before = {(record.trial, record.try_no) for record in read_run(folder).records}
    called = loadrig("run", path, "--resume", folder, "--inline")
    assert called.code == 0, called.err
    run = read_run(folder)
    later = [record for record in run.records if (record.trial, record.try_no) not in before]
    assert {record.corpus_version for record in later} == {AFTER}
    assert {"rag-bm25-k5", "rag-slow_index.build-k5", "full_context"} <= {record.arm for record in later}
    held = _held(folder, later)
    assert not any(old for old, _ in held)
    assert any(new for _, new in held)
    made = [json.loads(line) for line in (folder / "changes.jsonl").read_text().splitlines() if '"made"' in line]
    assert [one["made"]["session"] for one in made] == [2]
    assert json.loads((folder / "summary.json").read_text())["freshness"]["late"] >= len(later)


def test_in_open_loop_documents_change_at_their_instant(tmp_path: Path) -> None:
    """A second after the stage's begin: no request begun before holds the new text, all begun after it do."""
    load = 'rate = [20.0]\narrivals = "constant"\nduration_s = 2'
    path = _plan(tmp_path, load)
    path.write_text(path.read_text().replace("concurrency = [8]\n", ""))
    called = loadrig("run", path, "--out", tmp_path / "results", "--arm", "full_context", "--inline")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    found = read_changes(run.path)
    assert found.made is not None
    (worker,) = found.adopted
    before = [record for record in run.records if (record.begin_ns or 0) < found.made.at_ns]
    after = [record for record in run.records if (record.begin_ns or 0) >= worker.adoption.changed_ns]
    assert min(len(before), len(after)) >= 10
    assert set(_held(run.path, before)) == {(True, False)}
    assert set(_held(run.path, after)) == {(False, True)}
    first_due = min(record.due_ns or 0 for record in run.records)
    assert abs(found.made.at_ns - first_due - S) < S // 5


@pytest.mark.parametrize("line", COMMANDS)
def test_the_pages_command_works(line: str, tmp_path: Path) -> None:
    """Made short: it may end before documents change, or while they do; the report has a place for it."""
    short = ("--duration", "2", "--arm", "control", "--arm", "rag", "--inline")
    called = loadrig(*shlex.split(line)[1:], "--out", tmp_path, *short)
    assert called.code == 0, called.err
    assert json.loads((only_run(tmp_path).path / "summary.json").read_text())["freshness"]["after_s"] == 4
