"""Open loop as a user runs it: plan, run, sweep and resume, over one worker and over Ray."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from command import QUICK, here, loadrig, only_run, write_plan

from loadrig.log import RunFolder, read_run

OPEN = QUICK.replace("concurrency = [4]\n", 'rate = [20.0, 30.0]\narrivals = "poisson"\nduration_s = 2\n')
TWO_WORKERS = OPEN.replace("workers = 1", "workers = 2\ncpus_per_worker = 0.5")
COUNTED = QUICK.replace("concurrency = [4]\n", 'rate = [20.0]\narrivals = "constant"\n')


def due_times(run: RunFolder) -> dict[str, int | None]:
    return {trial.id: trial.due_ns for trial in run.trials}


def test_a_plan_tells_how_many_arrive_and_how_long_it_lasts(tmp_path: Path) -> None:
    """Twenty trials at 20 a second behind two of warm-up, 100 ms: 1.1 s."""
    called = loadrig("plan", write_plan(tmp_path, COUNTED), "--duration", "1")
    assert called.code == 0, called.err
    told = " ".join(called.out.split())
    assert (
        "stage r20: 22 constant arrivals in 1.1 s, 20 a second; 2 of them warm-up, in the first 0.1 s; at most 4096"
    ) in told


@pytest.mark.parametrize(
    ("flags", "minutes"),
    [
        (("--rate", "0.5", "--duration", "203"), 4),  # 4 s of warm-up, 203 s, 5 s for the last trial: 212 s
        (("--concurrency", "4", "--repetitions", "10"), 4),  # 202 trials of 5 s, four at once: 252 s
        (("--concurrency", "4", "--repetitions", "10", "--duration", "90"), 2),  # no longer than it may last
        (("--concurrency", "4", "--concurrency", "2", "--repetitions", "10"), 13),  # and 505 s: 757 s
    ],
)
def test_a_plan_tells_how_long_it_takes(tmp_path: Path, flags: tuple[str, ...], minutes: int) -> None:
    """Of an open loop its length and a last trial, of a closed one its trials over the level; stages add up."""
    called = here("plan", write_plan(tmp_path, QUICK), *flags)
    assert f"time: about {minutes} minutes if a trial takes 5 s" in called.out, called.err


@pytest.mark.ray
def test_an_open_loop_is_the_same_over_ray_as_inline(tmp_path: Path) -> None:
    """The same trials due at the same times and all answered; two workers have every second one each; every begin is on
    its worker's clock, to within the error that the manifest has."""
    runs: dict[str, RunFolder] = {}
    for name, flags in {"ray": ["--fleet", "ray"], "inline": ["--inline"]}.items():
        called = loadrig("run", write_plan(tmp_path, TWO_WORKERS), "--out", tmp_path / name, *flags)
        assert called.code == 0, called.err
        runs[name] = only_run(tmp_path / name)
    assert due_times(runs["ray"]) == due_times(runs["inline"])
    for run in runs.values():
        assert Counter(record.outcome for record in run.records) == {"answered": len(run.trials)}
        assert all((record.dispatch_delay_ns or -1) >= 0 for record in run.records)
        clocks = run.manifest["clocks"]
        assert all(row["round_trips"] == 8 and 0 < row["error_ns"] < 50_000_000 for row in clocks)
    assert [(row["stage"], row["worker"]) for row in runs["ray"].manifest["clocks"]] == [
        ("r20", "w1"), ("r20", "w2"), ("r30", "w1"), ("r30", "w2"),
    ]  # fmt: skip
    begins: dict[tuple[str, str | None], set[int]] = {}
    for record in runs["ray"].records:
        due_ns = due_times(runs["ray"])[record.trial]
        begins.setdefault((record.stage, record.worker), set()).add((record.due_ns or 0) - (due_ns or 0))
    assert [len(found) for found in begins.values()] == [1, 1, 1, 1]


def test_scheduled_latency_leads_in_terminal_report_and_summary(tmp_path: Path) -> None:
    """In the headline and in summary.json, beside service latency and dispatch delay; the loop is told in words."""
    called = loadrig("run", write_plan(tmp_path, COUNTED), "--duration", "1.5", "--out", tmp_path / "results")
    assert called.code == 0, called.err
    folder = only_run(tmp_path / "results").path
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    (stage,) = summary["stages"]
    loop = stage["open_loop"]
    assert (loop["due"], loop["offered_per_s"], loop["late"], loop["scheduled"]["n"]) == (30, 20.0, 0, 30)
    for arm in summary["arms"]:
        spread = {name: arm[name]["successes"]["p50"]["value_ns"] for name in ("scheduled", "service")}
        assert spread["scheduled"] > spread["service"] > 0
        assert arm["dispatch_delay"]["p50"]["value_ns"] > 0
    for text in (called.out, (folder / "report.md").read_text()):
        assert text.index("scheduled s") < text.index("service s")
        assert "open loop: trials are due at times fixed beforehand" in text


def test_a_sweep_over_rates_shows_them_side_by_side(tmp_path: Path) -> None:
    """Two rates, two rows, with what was offered and achieved."""
    called = loadrig(
        "sweep", write_plan(tmp_path), "--rate", "10,20", "--duration", "1", "--arm", "control",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    assert [stage["name"] for stage in run.manifest["stages"]] == ["r10", "r20"]
    table = (run.path / "sweep.md").read_text()
    assert "## Open loop" in table
    assert "| r10" in table
    assert "| r20" in table


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("run", "--rate", "1,x"), "--rate '1,x'"),
        (("run", "--rate", "1", "--concurrency", "2"), "concurrency and rate are both given"),
        (("sweep",), "a sweep wants --levels or --rate"),
        (("sweep", "--rate", "1", "--levels", "2"), "a sweep wants --levels or --rate"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    """Exit code 2, what is wrong, and what to do."""
    command, *rest = flags
    called = loadrig(command, write_plan(tmp_path), *rest, "--out", tmp_path / "results")
    assert (called.code, said in called.err, "remedy" in called.err) == (2, True, True)


def test_a_rate_takes_the_place_of_the_plans_concurrency(tmp_path: Path) -> None:
    """Four in flight in the plan, 20 a second on the command line; at most one in flight, so that some are late."""
    plan = write_plan(tmp_path, QUICK.replace("warmup = 2", "warmup = 2\nmax_in_flight = 1"))
    flags = ("--rate", "40", "--duration", "1", "--out", tmp_path / "results", "--arm", "control", "--inline")
    called = loadrig("run", plan, *flags)
    assert called.code == 2  # the plan itself is at odds: max_in_flight belongs to an open loop
    plan.write_text(plan.read_text().replace("concurrency = [4]", "rate = [40.0]"))
    called = loadrig("run", plan, *flags)
    assert called.code == 1, called.err
    run = only_run(tmp_path / "results")
    outcomes = Counter((record.outcome, record.reason) for record in run.records)
    assert outcomes.keys() == {("answered", None), ("not_run", "late")}
    assert outcomes.total() == len(run.trials)
    assert "were never sent (max_in_flight 1 was reached)" in called.out
    called = loadrig("run", plan, *flags, "--resume", run.path)
    resumed = read_run(run.path)
    assert {record.outcome for record in resumed.superseded} == {"not_run"}
    assert len(resumed.records) == len(run.trials)


def test_a_replay_keeps_the_times_in_its_questions(tmp_path: Path) -> None:
    """Two questions due at 0.3 and 0 s, in two arms each: begun then, both arms at once."""
    lines = [json.loads(line) for line in Path("questions/tiny.jsonl").read_text().splitlines()[:2]]
    rows = [{**line, "at_s": at_s} for line, at_s in zip(lines, (0.3, 0), strict=True)]
    (tmp_path / "timed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = write_plan(tmp_path, QUICK.replace("concurrency = [4]", "replay = true"))
    called = loadrig(
        "run", plan, "--questions", tmp_path / "timed.jsonl", "--arm", "control", "--arm", "full_context",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    due = Counter((record.question, due_times(run)[record.trial]) for record in run.records)
    assert due == {(lines[0]["id"], 300_000_000): 2, (lines[1]["id"], 0): 2}
