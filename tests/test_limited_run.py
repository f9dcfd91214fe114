"""A model's own limits as a run keeps them: what the target sees, and what is latency and what is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import QUICK, loadrig, only_run

LIMITED = (
    QUICK.replace("[[arm]]", "[model.limits]\nLIMIT\n[[arm]]", 1)
    .replace("warmup = 2", "warmup = 0")
    .replace("cycle = false", "least = 40")
)
SCENARIO = (
    "base_ms = 40\nfixed_answer_tokens = 1\ndecode_ms_per_token = 0.0\nprefill_us_per_token = 0.0\njitter = 0.0\n"
)


def limited(folder: Path, limit: str, workers: int = 1) -> Path:
    (folder / "fast.toml").write_text(SCENARIO)
    plan = folder / "limited.toml"
    text = LIMITED.replace("LIMIT", limit).replace("SCENARIO", str(folder / "fast.toml"))
    plan.write_text(text.replace("workers = 1", f"workers = {workers}\ncpus_per_worker = 0.5"))
    return plan


def received_s(folder: Path) -> list[float]:
    """When the target had the requests for answers, by its own log."""
    rows = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    return sorted(row["body_complete_ns"] / 1e9 for row in rows if row["path"] == "/v1/messages" and row["attempt"])


@pytest.mark.parametrize("workers", [1, 2])
def test_requests_go_at_the_rate_that_the_plan_grants(tmp_path: Path, workers: int) -> None:
    """Twenty a second over all workers, four in flight: forty take 2 s at least, each worker's first one free; the
    wait, 160 ms a trial, is back-off in the record, and neither TTFT nor service latency, 40 ms, knows of it."""
    plan = limited(tmp_path, "requests_per_minute = 1200", workers)
    called = loadrig("run", plan, "--arm", "control", "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    at_s, trials = received_s(run.path), len(run.trials)
    assert trials == 40
    assert at_s[-1] - at_s[-trials] > (trials - workers) / 20 - 0.1
    assert sum(record.backoff_ns or 0 for record in run.records) > 1e9
    for record in run.records:
        assert record.service_ns == (record.end_ns or 0) - (record.begin_ns or 0)
        assert (record.trial_ttft_ns or 0) <= record.service_ns
    (arm,) = json.loads((run.path / "summary.json").read_text())["arms"]
    assert [arm[name]["successes"]["p50"]["value_ns"] < 0.1e9 for name in ("ttft", "service")] == [True, True]
    assert "waited for the requests or tokens a minute that the plan grants" in called.out.replace("\n", " ")


def test_tokens_are_held_to_their_limit(tmp_path: Path) -> None:
    """All of a small corpus in every prompt, 1,200 times so many tokens a minute granted: twenty prompts a second,
    whatever they were first taken to cost."""
    (tmp_path / "free").mkdir()
    free = limited(tmp_path, "input_tokens_per_minute = 100000000")
    assert loadrig("run", free, "--arm", "full_context", "--out", tmp_path / "free").code == 0
    usages = [record.usage for record in only_run(tmp_path / "free").records]
    cost = max(usage.input or 0 for usage in usages if usage is not None)
    plan = limited(tmp_path, f"input_tokens_per_minute = {1200 * cost}")
    called = loadrig("run", plan, "--arm", "full_context", "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    at_s, trials = received_s(run.path), len(run.trials)
    assert at_s[-1] - at_s[-trials] == pytest.approx((trials - 1) / 20, rel=0.2)


def test_unknown_limits_of_a_model_are_refused(tmp_path: Path) -> None:
    """With a hint, as any other key."""
    called = loadrig("plan", limited(tmp_path, "request_per_minute = 3"))
    assert called.code == 2
    assert "did you mean 'requests_per_minute'" in " ".join(called.err.split())
