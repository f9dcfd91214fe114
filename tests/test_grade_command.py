"""`loadrig grade` as a user calls it: marks, sheets and a judge over one small run against the simulator."""

from __future__ import annotations

import csv
import json
import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from command import QUICK, Called, here, loadrig, only_run, write_plan

from loadrig.log import read_prompts, read_run

FAST = "base_ms = 5.0\ndecode_ms_per_token = 0.2\n"
JUDGE = ("judge", "--model", "claude-haiku-5-5", "--base-url", "simulator", "--concurrency", "8")


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four questions in five arms, fired once."""
    folder = tmp_path_factory.mktemp("fired")
    called = loadrig("run", write_plan(folder, QUICK), "--out", folder / "results")
    assert called.code == 0, called.err
    return only_run(folder / "results").path


@pytest.fixture
def run(fired: Path, tmp_path: Path) -> Path:
    """The run's folder, for this test alone."""
    return Path(shutil.copytree(fired, tmp_path / "run"))


def grade(run: Path, *arguments: object, code: int = 0) -> Called:
    called = here("grade", run, *arguments)
    assert called.code == code, called.err + called.out
    return called


def scenario(folder: Path, text: str = "") -> tuple[str, Path]:
    path = folder / "scenario.toml"
    path.write_text(FAST + text)
    return "--scenario", path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def graded_sheet(run: Path, path: Path) -> Path:
    """The exported sheet, each row marked as the pre-check would: a person who thinks as it does."""
    grade(run, "export", "--out", path)
    rows = read_csv(path)
    marks = {row["answer"]: row["precheck"] for row in read_csv(run / "answers.csv")}
    for row in rows:
        row.update(correct=marks[row["answer"]], stale="0", invented="0", note="not what the reference says")
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        sheet = csv.DictWriter(file, list(rows[0]))
        sheet.writeheader()
        sheet.writerows(rows)
    return path


def accuracy_title(run: Path) -> str:
    return next(line for line in (run / "report.md").read_text().splitlines() if line.startswith("## Accuracy"))


def test_auto_can_be_run_again_and_touches_no_record(run: Path) -> None:
    """The same 20 answers, the same marks; records.jsonl is byte for byte what it was."""
    before = (run / "records.jsonl").read_bytes()
    assert "20 answers checked" in grade(run, "auto").out
    first = (run / "scores.jsonl").read_text().splitlines()
    grade(run, "auto")
    assert (run / "scores.jsonl").read_text().splitlines()[2:] == first[2:]
    assert (run / "records.jsonl").read_bytes() == before


def test_a_sheet_out_and_in(run: Path, tmp_path: Path) -> None:
    """Exported, graded, imported: the reports are by it, answers.csv has its marks, the pre-check is compared."""
    called = grade(run, "import", graded_sheet(run, tmp_path / "sheet.csv"), "--grader", "anna")
    assert "anna and pre-check" in called.out
    assert accuracy_title(run) == "## Accuracy by the sheet of anna"
    rows = read_csv(run / "answers.csv")
    assert {row["graded_by"] for row in rows} == {"anna"}
    assert all(row["correct"] == row["precheck"] for row in rows)
    assert json.loads((run / "summary.json").read_text())["grading"]["by"] == "the sheet of anna"


def test_report_takes_a_graders_marks(run: Path, tmp_path: Path) -> None:
    """By name, or the pre-check's; one who has not graded is an error that names who has."""
    grade(run, "import", graded_sheet(run, tmp_path / "sheet.csv"), "--grader", "anna")
    assert here("report", run, "--grader", "precheck").code == 0
    assert accuracy_title(run) == "## Accuracy by pre-check"
    called = here("report", run, "--grader", "bert")
    assert (called.code, "one of: anna, precheck" in called.err) == (2, True)


def test_a_sheet_in_error_is_refused_whole(run: Path, tmp_path: Path) -> None:
    """A zero without its reason: exit code 2, file and row named, no score written, no traceback."""
    path = graded_sheet(run, tmp_path / "sheet.csv")
    path.write_text(path.read_text("utf-8-sig").replace("not what the reference says", ""), "utf-8")
    called = grade(run, "import", path, "--grader", "anna", code=2)
    assert f"{path}: " in called.err
    assert "correct 0 needs the reason in note" in called.err
    assert "Traceback" not in called.err
    assert not (run / "scores.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("import", "no.csv", "--grader", "anna"), "no sheet was exported from this run"),
        (("import", "no.csv", "--grader", "precheck"), "'precheck' is no name for a grader"),
        (("export", "--out", "no/such/folder.csv"), "cannot be written"),
        (("judge", "--model", "m", "--base-url", "simulator", "--budget", "x"), "is no amount of money"),
        (("judge", "--model", "m", "--base-url", "simulator", "--provider", "x"), "unknown provider 'x'"),
    ],
)
def test_wrong_usage_is_named(run: Path, arguments: tuple[str, ...], problem: str) -> None:
    """Exit code 2, what is wrong, what to do."""
    called = grade(run, *arguments, code=2)
    assert problem in called.err
    assert "remedy:" in called.err


def test_a_judge_is_a_run_of_its_own(run: Path, tmp_path: Path) -> None:
    """Its calls are on record with their prompts, none of which names an arm, a model or a trial; its money is a line
    of the judged run's bill, to the last digit; the judged records are as they were."""
    before = read_run(run)
    called = grade(run, *JUDGE, "--faithfulness", *scenario(tmp_path))
    (folder,) = (run / "judges").iterdir()
    judge, after = read_run(folder), read_run(run)
    assert after.records == before.records
    assert {record.outcome for record in judge.records} == {"answered"}
    shown = b"".join(read_prompts(folder).values()).decode()
    assert "Reply with one JSON object" in shown
    assert not any(name in shown for name in ("rag-bm25", "full_context", "agentic", before.records[0].trial))
    bill = {
        line["name"]: line["money"]["amount"]
        for line in json.loads((run / "summary.json").read_text())["bill"]["lines"]
    }
    assert Decimal(bill["judge"]) == sum(Decimal(record.cost or "x") for record in judge.records)
    assert "not calibrated: no sheet to hold it against" in " ".join(called.out.split())
    assert accuracy_title(run) == "## Accuracy by pre-check"


def test_a_judge_may_speak_either_dialect(run: Path, tmp_path: Path) -> None:
    """Over chat completions every case has the verdict that it has over the Messages API."""
    for provider in ("openai", "anthropic"):
        grade(run, *JUDGE, "--provider", provider, "--name", provider, *scenario(tmp_path))

    lines = [json.loads(line) for line in (run / "scores.jsonl").read_text().splitlines()]
    found = {
        provider: {(line["trial"], line["correct"]) for line in lines if line.get("grader") == provider}
        for provider in ("openai", "anthropic")
    }
    (chat,) = [
        path for path in (run / "judges").iterdir() if b'"stream_options"' in b"".join(read_prompts(path).values())
    ]
    assert {record.outcome for record in read_run(chat).records} == {"answered"}
    assert found["openai"] == found["anthropic"]
    assert len(found["openai"]) > 10


def test_a_judge_that_agrees_with_the_sheet_may_be_used(run: Path, tmp_path: Path) -> None:
    """Held against a sheet of all answers; with all its verdicts turned round it is refused, with its agreement."""
    grade(run, "import", graded_sheet(run, tmp_path / "sheet.csv"), "--grader", "anna")
    grade(run, *JUDGE, "--name", "good", "--least", "5", "--floor", "0.8", *scenario(tmp_path))
    assert here("report", run, "--grader", "good").code == 0
    assert accuracy_title(run) == "## Accuracy by the judge good"
    grade(run, *JUDGE, "--name", "bad", "--least", "5", "--floor", "0.8", *scenario(tmp_path, "judge_errs = 1.0\n"))
    called = here("report", run, "--grader", "bad")
    assert (called.code, "is below 0.8" in called.err) == (2, True)


def test_replies_without_a_verdict_are_not_judged(run: Path, tmp_path: Path) -> None:
    """Every reply mumbles: no score, and it is said; nothing is taken for wrong."""
    called = grade(run, *JUDGE, *scenario(tmp_path, "judge_mumbles = 1.0\n"))
    assert re.search(r"claude-haiku-5-5: 0 of [1-9]\d* cases judged, 0 trials", called.out)
    assert "replies without a verdict" in called.out
    assert '"row":"score"' not in (run / "scores.jsonl").read_text()


def test_a_judge_keeps_its_budget(run: Path, tmp_path: Path) -> None:
    """Of what one whole judging costs, a third: it spends no more than that, and what it did not ask is said."""
    grade(run, *JUDGE, "--name", "whole", *scenario(tmp_path))
    (whole,) = (run / "judges").iterdir()
    third = sum(Decimal(record.cost or "0") for record in read_run(whole).records) / 3
    called = grade(run, *JUDGE, "--name", "cheap", "--budget", f"{third:f}", "--concurrency", "1", *scenario(tmp_path))
    (cheap,) = (folder for folder in (run / "judges").iterdir() if folder != whole)
    records = read_run(cheap).records
    assert sum(Decimal(record.cost or "0") for record in records) <= third
    unasked = sum(record.outcome == "not_run" for record in records)
    assert unasked > 0
    assert f"{unasked} without a reply" in called.out


def test_the_gate_of_faithfulness(run: Path, tmp_path: Path) -> None:
    """B-07: all supported passes; all verdicts turned round exits with 1."""
    grade(run, *JUDGE, "--gate", *scenario(tmp_path))
    grade(run, *JUDGE, "--gate", *scenario(tmp_path, "judge_errs = 1.0\n"), code=1)
