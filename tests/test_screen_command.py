"""`loadrig run --screen` as a user calls it: a real run against the simulator, and what it says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from command import QUICK, Called, here, loadrig, only_run

from loadrig.log import RunFolder, read_run

PLAN = (
    QUICK[: QUICK.index("[load]")]
    .replace("[corpus]", "repetitions = 2\n[corpus]")
    .replace("tiny", "huskbook")
    .replace("[1, 5]", "[3, 5, 20]")
    + "[load]\nconcurrency = [16, 8]\nwarmup = 0\nworkers = 1\n"
)


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> tuple[Called, RunFolder]:
    """One screening, in one process."""
    folder = tmp_path_factory.mktemp("screened")
    scenario, plan = folder / "fast.toml", folder / "plan.toml"
    scenario.write_text("base_ms = 5.0\nprefill_us_per_token = 0.0\ndecode_ms_per_token = 0.1\n")
    plan.write_text(PLAN.replace("SCENARIO", str(scenario)))
    done = loadrig("run", plan, "--screen", "--inline", "--out", folder / "results")
    assert done.code == 0, done.err
    return done, read_run(only_run(folder / "results").path)


def test_a_screening_asks_twenty_questions_once_in_three_arms(called: tuple[Called, RunFolder]) -> None:
    """60 trials at the lowest of two loads, every one of six categories in them, the control first."""
    _, run = called
    assert Counter(trial.arm for trial in run.trials) == {"control": 20, "rag-bm25-k5": 20, "full_context": 20}
    assert {(trial.stage, trial.repetition) for trial in run.trials} == {("c8", 1)}
    assert sorted(Counter(q.category for q in run.questions.values()).values()) == [3, 3, 3, 3, 4, 4]
    assert [trial.arm for trial in run.trials[:20]] == ["control"] * 20


def test_the_manifest_says_that_it_was_one(called: tuple[Called, RunFolder]) -> None:
    """With the full plan beside it: 110 questions in six arms, twice, at two loads."""
    _, run = called
    told = run.manifest["screening"]["full"]
    assert run.manifest["screen"] is True
    assert (told["questions"], len(told["arms"]), told["trials"]) == (110, 6, 2 * 2 * 660)
    assert float(told["cost"]) > 0


def test_the_verdict_stands_in_all_three_places(called: tuple[Called, RunFolder]) -> None:
    """On the screen, in report.md and in summary.json, in the same words."""
    done, run = called
    found = json.loads((run.path / "summary.json").read_text())["screening"]
    text = (run.path / "report.md").read_text()
    assert found["verdict"] in ("pays", "pays only after", "does not pay yet")
    assert found["sentence"].split(":")[0] in " ".join(done.out.split())
    assert "## Screening\n" in text
    assert found["keep"].split(":")[0] in text
    names = [one["name"] for one in found["lines"]]
    assert names == [
        "control", "gap", "questions", "categories", "recall of rag-bm25-k5", "misses", "to read again", "key",
        "instrument", "full plan",
    ]  # fmt: skip


def test_what_it_can_see_of_the_shipped_corpus(called: tuple[Called, RunFolder]) -> None:
    """The control knows nothing, every question has a key, a k of 5 leaves some gold unfound."""
    _, run = called
    found = json.loads((run.path / "summary.json").read_text())["screening"]
    said = {one["name"]: one["said"] for one in found["lines"]}
    assert said["control"] == "it knew none of 20 questions"
    assert said["key"] == "every one of 20 questions could be judged"
    assert said["recall of rag-bm25-k5"].startswith("below 1: ")
    assert said["full plan"].endswith("it can show differences from 8.2 points on")


def test_a_plan_that_has_nothing_to_screen_stops_before_anything(tmp_path: Path) -> None:
    """Exit code 2 with a remedy; with the arm named by hand it would run."""
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace('kind = "rag"\nk = [3, 5, 20]', 'kind = "agentic"\nturn_cap = 3').replace(
        'kind = "full_context"', 'kind = "agentic"\nturn_cap = 4').replace("SCENARIO", "quick"))  # fmt: skip
    done = loadrig("run", plan, "--screen", "--out", tmp_path / "results")
    assert done.code == 2
    assert "nothing to screen" in done.err
    assert "--arm" in done.err
    assert not (tmp_path / "results").exists()


def test_a_screening_is_taken_up_as_one(called: tuple[Called, RunFolder]) -> None:
    """With --screen again the plan is the same one and nothing is missing; without, it is another plan."""
    _, run = called
    plan = run.path.parents[1] / "plan.toml"
    again = here("run", plan, "--screen", "--inline", "--resume", run.path)
    assert (again.code, "nothing is missing" in again.err) == (2, True)
    other = here("run", plan, "--inline", "--resume", run.path)
    assert other.code == 2
    assert "nothing is missing" not in other.err
