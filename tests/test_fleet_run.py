"""Whole runs that do not end as planned: workers lost, runs stopped, out of money and taken up, some over real Ray."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from command import LOADRIG, QUICK, loadrig, only_run, write_plan

from loadrig.log import RunFolder, read_run

TWO_WORKERS = QUICK.replace("workers = 1", "workers = 2\ncpus_per_worker = 0.5")
each_fleet = pytest.mark.parametrize("fleet", ["process", pytest.param("ray", marks=pytest.mark.ray)])
LONG = TWO_WORKERS.replace('name = "quick"', 'name = "quick"\nrepetitions = 10')
IMPATIENT = [sys.executable, "-c", f"import loadrig.fleet.handle as one; one.SILENCE_LIMIT_S = 2\n{LOADRIG[-1]}"]


def _wait_for(what: Callable[[], bool], within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def _begun(
    plan: Path, results: Path, *flags: str, command: Sequence[str] = LOADRIG
) -> tuple[subprocess.Popen[str], Path]:
    """A run in a process of its own that has written a few records, and its folder."""
    process = subprocess.Popen(
        [*command, "run", str(plan), "--out", str(results), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def has_records() -> bool:
        assert process.poll() is None, process.communicate()
        return any(len(path.read_bytes().splitlines()) > 20 for path in results.glob("*/records.jsonl"))

    _wait_for(has_records)
    (folder,) = results.iterdir()
    return process, folder


def _child_of(pid: int, command: str) -> int:
    """The one child of a process in whose command line these words stand."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (found,) = (child for child in children if command.encode() in Path(f"/proc/{child}/cmdline").read_bytes())
    return int(found)


def _outcomes(run: RunFolder) -> Counter[str]:
    return Counter(record.outcome for record in run.records)


def _asked_twice(folder: Path) -> list[str]:
    """Requests, by trial, try, turn and attempt, that the simulators of a run and its resume had more than once."""
    logs = (folder / "truth.jsonl").read_text() + (folder / "truth-2.jsonl").read_text()
    rows = [json.loads(line) for line in logs.splitlines() if line.endswith("}")]
    asked = Counter(row["attempt"] for row in rows if row["path"] == "/v1/messages")
    assert asked
    return [name for name, count in asked.items() if count > 1]


@pytest.mark.ray
def test_two_ray_workers_do_the_same_job_as_one_inline(tmp_path: Path) -> None:
    """Same trials, same answers, same tokens, over Ray, over plain processes and in one; two workers each but there."""
    runs = {}
    for name, flags in {"ray": ["--fleet", "ray"], "process": [], "inline": ["--inline"]}.items():
        called = loadrig("run", write_plan(tmp_path, TWO_WORKERS), "--out", tmp_path / name, *flags)
        assert called.code == 0, called.err
        runs[name] = only_run(tmp_path / name)
    heard = [{r.trial: (r.arm, r.question, r.answer, r.usage) for r in run.records} for run in runs.values()]
    assert heard[0] == heard[1] == heard[2]
    for name in ("ray", "process"):
        assert {record.worker for record in runs[name].records} == {"w1", "w2"}
        assert len({worker["pid"] for worker in runs[name].manifest["workers"]}) == 2
    assert [run.manifest["sessions"][0]["fleet"] for run in runs.values()] == ["ray", "process", "inline"]


@each_fleet
def test_a_killed_worker_loses_its_trials_by_name_and_resume_completes_them(tmp_path: Path, fleet: str) -> None:
    """kill -9 in mid-run: the sum still holds, a warning names the worker, exit code 1; --resume asks the rest."""
    plan = write_plan(tmp_path, LONG)
    process, folder = _begun(plan, tmp_path / "results", "--fleet", fleet)
    manifest = json.loads((folder / "manifest.json").read_text())
    os.kill(manifest["workers"][0]["pid"], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    run = read_run(folder)
    lost = [record for record in run.records if record.reason == "lost"]
    assert 1 <= len(lost) <= 5  # its two credits, and what had ended untold or was leased ahead
    assert {record.worker for record in lost} == {"w1"}
    assert len(run.records) == len(run.trials)
    assert _outcomes(run) == {"answered": len(run.trials) - len(lost), "failed": len(lost)}
    assert "worker w1" in out
    called = loadrig("run", plan, "--resume", folder, "--inline")
    assert called.code == 0, called.err
    resumed = read_run(folder)
    assert _outcomes(resumed) == {"answered": len(run.trials)}
    assert {r.trial for r in resumed.superseded} == {record.trial for record in lost}
    before = {record.trial: record for record in run.records if record.reason != "lost"}
    assert all(before[record.trial] == record for record in resumed.records if record.trial in before)


def test_an_interrupted_run_keeps_everything_and_reports(tmp_path: Path) -> None:
    """One SIGINT: exit code 3, the report is there, planned is still the sum, and resume asks only what is missing."""
    plan = write_plan(tmp_path, LONG)
    process, folder = _begun(plan, tmp_path / "results", "--inline")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    run = read_run(folder)
    outcomes = _outcomes(run)
    assert run.manifest["status"] == "interrupted"
    assert outcomes["not_run"] > 0
    assert sum(outcomes.values()) == len(run.trials)
    assert (folder / "report.md").is_file()
    assert f"{outcomes['not_run']} not run" in out
    called = loadrig("run", plan, "--resume", folder, "--inline")
    assert called.code == 0, called.err
    assert _outcomes(read_run(folder)) == {"answered": len(run.trials)}
    assert _asked_twice(folder) == []
    taken_up = read_run(folder)
    assert [session["ended_at"] is not None for session in taken_up.manifest["sessions"]] == [True, True]
    assert [session["records"] for session in taken_up.manifest["sessions"]] == [0, len(run.trials)]
    by_session = [*taken_up.sessions.values()]
    assert (by_session.count(1), by_session.count(2)) == (len(run.trials), len(taken_up.superseded))


def test_a_killed_driver_is_taken_up_with_its_last_requests_in_the_bill(tmp_path: Path) -> None:
    """kill -9 of the driver at 4 in flight: the lost tries, 4 and what was leased ahead, stay in the bill as unknown,
    everything else is asked once, and nothing twice under one number."""
    plan = write_plan(tmp_path, LONG)
    process, folder = _begun(plan, tmp_path / "results", "--inline")
    process.kill()
    process.communicate(timeout=60)
    assert json.loads((folder / "manifest.json").read_text())["status"] == "running"
    called = loadrig("run", plan, "--resume", folder, "--inline")
    assert called.code == 0, called.err
    run = read_run(folder)
    assert _outcomes(run) == {"answered": len(run.trials)}
    lost = [(record.reason, record.cost) for record in run.superseded]
    assert 4 <= len(lost) <= 12
    assert set(lost) == {("lost", None)}
    assert json.loads((folder / "summary.json").read_text())["bill"]["total"]["unknown"] == len(lost)
    assert _asked_twice(folder) == []


def test_a_budget_holds_over_a_resume(tmp_path: Path) -> None:
    """Stopped at 0.004 and taken up with the same budget, a run spends no more; with a larger one it is completed."""
    plan = write_plan(tmp_path, LONG)
    flags = ["--out", tmp_path / "results", "--inline", "--budget"]
    called = loadrig("run", plan, *flags, "0.004")
    assert called.code == 1, called.err
    folder = only_run(tmp_path / "results").path
    called = loadrig("run", plan, "--resume", folder, *flags, "0.004")
    assert called.code == 1, called.err
    spent = sum(float(record.cost or 0) for record in read_run(folder).records)
    assert 0.002 < spent <= 0.004
    called = loadrig("run", plan, "--resume", folder, *flags, "9")
    assert called.code == 0, called.err
    run = read_run(folder)
    assert _outcomes(run) == {"answered": len(run.trials)}
    assert {record.outcome for record in run.superseded} == {"not_run"}


@pytest.mark.ray
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_stopped_before_it_began_leaves_nothing(number: signal.Signals, tmp_path: Path) -> None:
    """A signal while Ray starts: exit code 3, one line, no folder."""
    process = subprocess.Popen(
        [*LOADRIG, "run", str(write_plan(tmp_path, TWO_WORKERS)), "--out", str(tmp_path / "results"), "--fleet", "ray"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert "starting Ray" in process.stderr.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "Traceback" not in err
    assert not list((tmp_path / "results").glob("*"))


@pytest.mark.parametrize("in_flight", [8, 32])
def test_a_budget_is_kept_though_answers_are_as_long_as_they_may_be(in_flight: int, tmp_path: Path) -> None:
    """Answers of 2,000 tokens and room for about twenty, fewer or more than that in flight: never over, and nearly
    all of it is used."""
    plan = write_plan(tmp_path, LONG.replace("concurrency = [4]", f"concurrency = [{in_flight}]"))
    (tmp_path / "fast.toml").write_text("base_ms = 10\ndecode_ms_per_token = 0.05\nfixed_answer_tokens = 2000\n")
    flags = ["--out", tmp_path / "results", "--inline", "--arm", "control", "--budget", "0.0205"]
    called = loadrig("run", plan, *flags)
    assert called.code == 1, called.err
    run = only_run(tmp_path / "results")
    asked = [Decimal(record.cost or "nan") for record in run.records if record.outcome == "answered"]
    assert {record.usage.output for record in run.records if record.usage} == {2000}
    assert Decimal("0.0205") - max(asked) < sum(asked) <= Decimal("0.0205")
    assert 18 <= len(asked) <= 20
    assert Counter((r.outcome, r.reason) for r in run.records) == {
        ("answered", None): len(asked), ("not_run", "budget"): len(run.trials) - len(asked),
    }  # fmt: skip


def test_a_run_that_is_going_on_cannot_be_taken_up(tmp_path: Path) -> None:
    """A second writer is refused with exit code 2 and touches nothing; the first ends as if it had not been there."""
    plan = write_plan(tmp_path, LONG)
    process, folder = _begun(plan, tmp_path / "results", "--inline")
    manifest = (folder / "manifest.json").read_bytes()
    called = loadrig("run", plan, "--resume", folder, "--inline")
    assert called.code == 2
    assert "another process is writing this run" in called.err
    assert (folder / "manifest.json").read_bytes() == manifest
    assert not (folder / "truth-2.jsonl").exists()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    run = read_run(folder)
    assert len(run.records) == len(run.trials)
    assert run.superseded == ()


def test_a_worker_whose_search_process_is_killed_ends_with_a_warning(tmp_path: Path) -> None:
    """The trials in hand are lost by name, the rest is not run, exit code 1; --resume asks what is missing."""
    plan, flags = write_plan(tmp_path, LONG), ("--inline", "--arm", "rag")
    process, folder = _begun(plan, tmp_path / "results", *flags)
    os.kill(_child_of(process.pid, "multiprocessing.spawn"), signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    run = read_run(folder)
    became = Counter((record.outcome, record.reason) for record in run.records)
    assert became.keys() == {("answered", None), ("failed", "lost"), ("not_run", "stopped")}
    assert became.total() == len(run.trials)
    assert any("the search process of this worker died" in warning for warning in run.manifest["warnings"])
    called = loadrig("run", plan, "--resume", folder, *flags)
    assert called.code == 0, called.err
    assert _outcomes(read_run(folder)) == {"answered": len(run.trials)}


@each_fleet
def test_a_worker_that_hangs_is_given_up_and_the_other_goes_on(tmp_path: Path, fleet: str) -> None:
    """One of two is stopped by SIGSTOP: after the limit (here 2 s) its trials are lost and the other asks the rest."""
    plan = write_plan(tmp_path, LONG)
    flags = ["--arm", "rag", "--arm", "full_context", "--fleet", fleet]
    process, folder = _begun(plan, tmp_path / "results", *flags, command=IMPATIENT)
    pid = json.loads((folder / "manifest.json").read_text())["workers"][0]["pid"]
    os.kill(pid, signal.SIGSTOP)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    run = read_run(folder)
    lost = [record for record in run.records if record.reason == "lost"]
    assert {record.worker for record in lost} == {"w1"}
    assert _outcomes(run) == {"answered": len(run.trials) - len(lost), "failed": len(lost)}
    assert f"worker w1 (pid {pid}) has not answered for 2 s" in run.manifest["warnings"]
    _wait_for(lambda: not Path(f"/proc/{pid}").exists())


def test_a_full_disk_stops_the_run_and_the_freed_one_completes_it(tmp_path: Path) -> None:
    """In mid-run no file may grow any more: one line says so, exit code 1, the workers are gone. With room again the
    run is completed; no request was sent twice under one number, and what was paid and not kept is in the bill."""
    plan = write_plan(tmp_path, LONG)
    process, folder = _begun(plan, tmp_path / "results")
    pids = [worker["pid"] for worker in json.loads((folder / "manifest.json").read_text())["workers"]]
    size = (folder / "records.jsonl").stat().st_size
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert f"{folder}: records cannot be written: [Errno 27] File too large" in err
    assert "Traceback" not in err
    _wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    kept = len(read_run(folder).records)
    called = loadrig("run", plan, "--resume", folder, "--inline")
    assert called.code == 0, called.err
    run = read_run(folder)
    assert _outcomes(run) == {"answered": len(run.trials)}
    assert 20 <= kept < len(run.trials)
    assert {record.reason for record in run.superseded} == {"lost"}
    assert _asked_twice(folder) == []


@pytest.mark.ray
def test_in_open_loop_a_killed_workers_unsent_trials_are_sent_by_the_other(tmp_path: Path) -> None:
    """kill -9 of one of two in mid-stage: only what it had in flight is lost, what was due later is asked by the other,
    at its time; the run ends when it would have."""
    loop = 'rate = [20.0]\narrivals = "constant"\nduration_s = 5'
    plan = write_plan(tmp_path, TWO_WORKERS.replace("concurrency = [4]", loop))
    process, folder = _begun(plan, tmp_path / "results", "--arm", "control")
    pid = json.loads((folder / "manifest.json").read_text())["workers"][0]["pid"]
    os.kill(pid, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    run = read_run(folder)
    lost = [record for record in run.records if record.reason == "lost"]
    assert len(lost) <= 12  # about as many as are due in the time in which a death is noticed, and one in flight
    assert {record.worker for record in lost} == {"w1"}
    assert _outcomes(run) == {"answered": len(run.trials) - len(lost), "failed": len(lost)}
    later = [record for record in run.records if record.outcome == "answered"][-20:]
    assert {record.worker for record in later} == {"w2"}
    assert max(record.dispatch_delay_ns or 0 for record in later) < 200_000_000
