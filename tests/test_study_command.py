"""`loadrig study`: several runs with one command, gone on with by the same command, and one report."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from command import FAST, LOADRIG, QUICK, Called, here

PLAN = QUICK.replace("[corpus]", "repetitions = 2\n[corpus]").replace("warmup = 2", "warmup = 0")
STUDY = """\
name = "tiny-study"
title = "A small study"
plan = "PLAN"
[[run]]
name = "first"
[[run]]
name = "narrow"
about = "one class only"
arm = ["control", "rag", "full_context"]
categories = ["CATEGORY"]
[known]
windows = { "claude-haiku-5-5" = 200000 }
"""


def write(folder: Path, scenario: str = FAST) -> Path:
    """The study and what it names, in the folder."""
    (folder / "fast.toml").write_text(scenario)
    (folder / "plan.toml").write_text(PLAN.replace("SCENARIO", str(folder / "fast.toml")))
    rows = [json.loads(line) for line in Path("questions/tiny.jsonl").read_text().splitlines()]
    text = STUDY.replace("PLAN", str(folder / "plan.toml")).replace("CATEGORY", rows[0]["category"])
    (folder / "study.toml").write_text(text)
    return folder / "study.toml"


def study(path: Path, *more: str) -> Called:
    return here("study", path, "--out", path.parent / "results", "--inline", *more)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that was run once."""
    folder = tmp_path_factory.mktemp("study")
    called = study(write(folder))
    assert called.code == 0, called.err
    return folder


def records(folder: Path, run: str) -> bytes:
    return (folder / "results" / "tiny-study" / run / "records.jsonl").read_bytes()


def test_every_run_lies_under_its_name(done: Path) -> None:
    """results/STUDY/RUN has the run's own report, and the study's lies above them."""
    there = sorted(path.name for path in (done / "results" / "tiny-study").iterdir())
    assert there == ["first", "narrow", "study.json", "study.md"]
    assert (done / "results" / "tiny-study" / "narrow" / "report.md").exists()


def test_the_report_goes_by_research_question(done: Path) -> None:
    """Simulated first, then the instrument, then the questions in order, then limits and what transfers."""
    text = (done / "results" / "tiny-study" / "study.md").read_text()
    wanted = (
        "# A small study", "dial settings of the simulator, not evidence", "## Runs", "## Safeguards and artefacts",
        "## Dropped", "## In short", "## RQ1", "## RQ2", "## RQ3", "## RQ4", "## RQ5", "## Grounding",
        "## Provenance", "## Capability", "## Limits", "## What transfers",
    )  # fmt: skip
    places = [text.index(part) for part in wanted]
    assert places == sorted(places)
    assert "better" not in text.replace("searches better than before", "")  # what an artefact looks like


def test_a_finding_names_its_figures(done: Path) -> None:
    """Every key of a finding is one of study.json's figures, or a place in a run's summary."""
    whole = json.loads((done / "results" / "tiny-study" / "study.json").read_bytes())
    keys = {one["key"] for rows in whole["figures"].values() for one in rows}
    named = {key for section in whole["sections"] for one in section["findings"] for key in one["figures"]}
    assert named
    assert {key for key in named if "/summary.json: " not in key} <= keys


def test_the_same_command_keeps_what_is_complete(done: Path) -> None:
    """Called again it asks nothing and reports the same."""
    before = records(done, "first"), records(done, "narrow")
    called = study(done / "study.toml")
    assert called.code == 0, called.err
    assert (records(done, "first"), records(done, "narrow")) == before
    assert "complete, kept" in called.err


def test_other_settings_are_not_mixed_in(done: Path) -> None:
    """A run that was begun under another plan is an error, not a run of two halves."""
    called = study(done / "study.toml", "--limit", "1")
    assert called.code == 2
    assert "the plan differs" in called.err


def test_a_report_names_what_the_study_has_changed(done: Path) -> None:
    """Edited since, two repetitions to one: the figures stay those of the run, and the report says whose they are."""
    assert study(done / "study.toml", "--report-only", "--repetitions", "1").code == 0
    text = (done / "results" / "tiny-study" / "study.md").read_text()
    assert "one class only; begun with other settings than the study has now" in text
    assert study(done / "study.toml", "--report-only").code == 0
    assert "begun with other settings" not in (done / "results" / "tiny-study" / "study.md").read_text()


def test_an_error_names_the_run(tmp_path: Path) -> None:
    """Of two runs the second asks for a class that no question has: the questions are not at fault, the run is."""
    path = write(tmp_path)
    path.write_text(path.read_text().replace('categories = ["', 'categories = ["un'))
    called = study(path)
    assert called.code == 2
    assert "(run 'narrow' of the study)" in called.err
    assert not (tmp_path / "results").exists()


def test_an_interrupted_study_goes_on(tmp_path: Path) -> None:
    """Ctrl-C gives 3 and a report of what is there; the same command then asks only what is missing."""
    path = write(tmp_path, FAST.replace("40", "120"))
    once = ("--repetitions", "1")
    command = [*LOADRIG, "study", str(path), "--out", str(tmp_path / "results"), "--inline", *once]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "trials planned" in line:
                process.send_signal(signal.SIGINT)
                break
        process.stderr.read()
    assert process.returncode == 3
    assert (tmp_path / "results" / "tiny-study" / "study.md").exists()
    called = study(path, *once)
    assert called.code == 0, called.err
    assert "trials to be taken up" in called.err
    runs = json.loads((tmp_path / "results" / "tiny-study" / "study.json").read_bytes())["runs"]
    assert [(run["status"], run["answered"]) for run in runs] == [("complete", run["planned"]) for run in runs]


def test_a_dear_study_asks_first(tmp_path: Path) -> None:
    """Against a real endpoint an estimate over 1.00 wants --yes or --budget, before anything is sent."""
    path = write(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan.read_text().replace("repetitions = 2", "repetitions = 2000"))
    called = study(path, "--base-url", "https://api.example.org")
    assert called.code == 2
    assert "the study is estimated to cost" in called.err
    assert "--budget" in called.err
    assert not (tmp_path / "results").exists()


def test_only_the_report(tmp_path: Path) -> None:
    """--report-only of a study of which nothing was run says so."""
    called = study(write(tmp_path), "--report-only")
    assert called.code == 2
    assert "no run of the study is there" in called.err


def test_the_budget_is_over_the_whole_study(tmp_path: Path) -> None:
    """What the first run spent is not there for the second."""
    called = study(write(tmp_path), "--budget", "0.003", "--repetitions", "1")
    assert called.code == 1
    runs = json.loads((tmp_path / "results" / "tiny-study" / "study.json").read_bytes())
    assert sum(float(run["cost"]["amount"]) for run in runs["runs"]) <= 0.003


def test_what_a_run_spent_unknown_counts_against_the_studys_budget(tmp_path: Path) -> None:
    """Costs of the first run that nobody told are reckoned at the worst case, as in a run: the second is not begun."""
    path = write(tmp_path)
    assert study(path, "--budget", "1.00", "--repetitions", "1").code == 0
    folder = tmp_path / "results" / "tiny-study"
    shutil.rmtree(folder / "narrow")
    log = folder / "first" / "records.jsonl"
    log.write_text(re.sub(r'"cost":"[\d.]+"', '"cost":null', log.read_text()))
    assert study(path, "--budget", "0.01", "--repetitions", "1").code == 1
    assert not (folder / "narrow").exists()
