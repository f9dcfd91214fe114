"""Sweeps as a user runs them, against simulators whose slots they are not told."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from command import QUICK, loadrig, only_run

from loadrig.log import read_run

SWEPT = QUICK.replace("concurrency = [4]\n", "").replace("cycle = false\n", "least = 80\n")


def hidden(folder: Path, slots: int, service_ms: float, jitter: float = 0.0) -> Path:
    """A plan whose simulator has so many slots."""
    scenario = folder / "hidden.toml"
    scenario.write_text(
        f"slots = {slots}\nbase_ms = {service_ms}\njitter = {jitter}\nfixed_answer_tokens = 1\n"
        "decode_ms_per_token = 0.0\nprefill_us_per_token = 0.0\n"
    )
    plan = folder / "quick.toml"
    plan.write_text(SWEPT.replace("SCENARIO", str(scenario)))
    return plan


@pytest.mark.parametrize("seed", [3, 8])
def test_the_knee_is_where_the_slots_are(tmp_path: Path, seed: int) -> None:
    """3 to 7 slots of 50 to 100 ms, drawn: the knee lies between the levels next to them, the sweep ends one or two
    levels behind it, and sweep.md leads with it."""
    chance = random.Random(seed)
    slots = chance.randint(3, 7)
    plan = hidden(tmp_path, slots, chance.uniform(50, 100), jitter=0.2)
    called = loadrig(
        "sweep", plan, "--levels", "1,2,4,8,16,32,64", "--duration", "1.2", "--arm", "control", "--inline",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    found = json.loads((run.path / "summary.json").read_text())["sweep"]
    levels = (1, 2, 4, 8, 16)
    below, above = max(one for one in levels if one < slots), min(one for one in levels if one > slots)
    assert below <= found["knee"]["at"] <= above
    assert found["knee"]["reached"]
    assert [step["load"] for step in found["steps"]] in ([1, 2, 4, 8], [1, 2, 4, 8, 16])
    assert found["steps"][-1]["saturated"]
    assert found["ended"].startswith("stopped behind c")
    text = (run.path / "sweep.md").read_text()
    assert text.index("## The knee") < text.index("## Load against throughput") < text.index("## Arms over the stages")
    assert {stage["name"] for stage in run.manifest["stages"]} == {trial.stage for trial in run.trials}


def test_in_open_loop_the_knee_is_a_rate(tmp_path: Path) -> None:
    """Three slots of 60 ms bear 50 a second: the knee lies between 40 and 60, and the sweep ends at 80 of 160."""
    plan = hidden(tmp_path, slots=3, service_ms=60)
    called = loadrig(
        "sweep", plan, "--rate", "20,40,80,160", "--duration", "2", "--arm", "control", "--inline",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert called.code == 0, called.err
    found = json.loads((only_run(tmp_path / "results").path / "summary.json").read_text())["sweep"]
    assert [step["load"] for step in found["steps"]] == [20, 40, 80]
    assert 40 < found["knee"]["at"] < 60
    assert found["unit"] == "a second"


def test_a_search_closes_on_the_highest_load_that_keeps_two_objectives(tmp_path: Path) -> None:
    """Four slots of 60 ms: N in flight take 15 ms x N, so a p95 under 150 ms is kept up to 8 or 9, by what a trial
    spends outside of its slot; no stage is needed twice for the errors, and the estimate has said how many at most."""
    plan = hidden(tmp_path, slots=4, service_ms=60)
    called = loadrig(
        "sweep", plan, "--search", "--levels", "4", "--objective", "latency_p95<150ms", "--objective",
        "error_share<10%", "--ceiling", "32", "--arm", "control", "--inline", "--no-stop",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert called.code == 0, called.err
    assert "at most 12 stages of " in called.err
    run = only_run(tmp_path / "results")
    found = json.loads((run.path / "summary.json").read_text())["sweep"]
    assert found["searched"]
    assert 6 <= found["bracket"]["kept"] <= 9
    assert found["bracket"]["kept"] < found["bracket"]["not_kept"] <= 10
    assert len(found["steps"]) <= 9
    assert all(step["met"]["failed"] == 0 for step in found["steps"])
    assert found["ended"] == run.manifest["sweep"]["ended"] == "the bracket is as narrow as it gets"
    assert len(run.records) == len(run.trials)
    assert "highest load that keeps the objectives" in (run.path / "sweep.md").read_text()
    assert "| latency" in (run.path / "sweep.md").read_text().replace("p95", "")


def test_a_search_that_its_budget_ended_can_be_taken_up(tmp_path: Path) -> None:
    """The stage that was begun is on file whole; --resume asks what is missing of it, and begins no other."""
    plan = hidden(tmp_path, slots=4, service_ms=20)
    plan.write_text(plan.read_text() + '[objectives]\nlatency_p95 = "1s"\n[budget]\ntokens = 3000\n')
    flags = ("--arm", "control", "--inline", "--out", tmp_path / "results")
    assert loadrig("sweep", plan, "--search", *flags).code == 0
    run = only_run(tmp_path / "results")
    assert {record.reason for record in run.records if record.outcome == "not_run"} == {"budget"}
    assert len(run.records) == len(run.trials)
    (stage, *more) = run.manifest["stages"]
    assert more == []
    plan.write_text(plan.read_text().replace("tokens = 3000", "tokens = 3000000"))
    called = loadrig("run", plan, *flags, "--resume", run.path)
    assert called.code == 0, called.err
    resumed = read_run(run.path)
    assert {record.outcome for record in resumed.records} == {"answered"}
    assert {record.stage for record in resumed.records} == {stage["name"]}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--search",), "a search has nothing to keep"),
        (("--search", "--objective", "ttft<2s"), "unknown objective 'ttft'"),
        (("--search", "--objective", "scheduled_p95<2s"), "scheduled latency in a closed loop"),
        (("--search", "--objective", "ttft_p95<2s", "--levels", "8", "--ceiling", "4"), "below the first load"),
    ],
)
def test_a_search_that_cannot_be_made_is_refused(tmp_path: Path, flags: tuple[str, ...], said: str) -> None:
    """Exit code 2, what is wrong, what to do, and no folder left behind."""
    called = loadrig("sweep", hidden(tmp_path, 4, 20), *flags, "--out", tmp_path / "results")
    assert (called.code, said in called.err, "remedy" in called.err) == (2, True, True), called.err
    assert not (tmp_path / "results").exists()


def test_objectives_of_a_plan_are_read_with_their_line(tmp_path: Path) -> None:
    """A limit that is none is named by file and line."""
    plan = hidden(tmp_path, 4, 20)
    plan.write_text(plan.read_text() + '[objectives]\nttft_p95 = "soon"\n')
    called = loadrig("plan", plan)
    line = len(plan.read_text().splitlines())
    assert called.code == 2
    assert f"quick.toml:{line}: ttft_p95: 'soon' is no duration" in " ".join(called.err.split())
