"""The whole bill of a run with warm-up, priming, retries, failures and a judge: summary, page and sheet agree."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from command import here, loadrig, only_run, write_plan

PLAN = """\
name = "bill"
repetitions = 3
[corpus]
path = "corpora/tiny"
[questions]
path = "questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "SCENARIO"
[prices]
path = "PRICES"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 2
[[arm]]
kind = "full_context"
cache = "5m"
[retry]
attempts = 1
ceiling_s = 0.1
[load]
concurrency = [4]
warmup = 4
workers = 1
cycle = false
"""
PRICES = """[[price]]
model = "claude-haiku-5-5"
effective_from = 2020-01-01
source = "invented"
seen = 2026-11-01
currency = "USD"
cache_minimum = 64
input = "3.00"
output = "15.00"
cache_write_5m = "3.75"
cache_write_1h = "6.00"
cache_read = "0.30"
"""
FAULTS = "base_ms = 10.0\ndecode_ms_per_token = 0.3\nrate_500 = 0.2\nrate_cut = 0.2\n"
JUDGE = ("judge", "--model", "claude-haiku-5-5", "--base-url", "simulator", "--concurrency", "8")
SPENT = ("measured", "warmup", "failed", "priming", "judge")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fired, judged, and reported on again."""
    place = tmp_path_factory.mktemp("bill")
    (place / "prices.toml").write_text(PRICES)
    (place / "faults.toml").write_text(FAULTS)
    (place / "judge.toml").write_text("base_ms = 5.0\ndecode_ms_per_token = 0.2\n")
    text = PLAN.replace("SCENARIO", str(place / "faults.toml")).replace("PRICES", str(place / "prices.toml"))
    called = loadrig("run", write_plan(place, text), "--out", place / "results")
    assert called.code == 1, called.err  # some trials fail
    run = only_run(place / "results").path
    judged = here("grade", run, *JUDGE, "--scenario", place / "judge.toml")
    assert judged.code == 0, judged.err + judged.out
    return run


@pytest.fixture(scope="module")
def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "cost.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_kind_of_money_is_on_the_bill_and_the_lines_sum_to_it(summary: dict[str, Any]) -> None:
    """Five lines with money on them, of which the sum is the total, to the last digit; what is tried again here was
    refused with a status, and cost nothing."""
    lines = {line["name"]: Decimal(line["money"]["amount"]) for line in summary["bill"]["lines"]}
    assert [name for name in SPENT if not lines[name]] == []
    assert sum(lines.values()) == Decimal(summary["bill"]["total"]["amount"])
    retried = [one for one in summary["spent"] if one["line"] == "retries"]
    assert {one["money"]["amount"] for one in retried} == {"0"}
    assert sum(one["tokens"]["untold"] for one in retried) > 0


def test_the_sheet_is_the_bill(folder: Path, summary: dict[str, Any]) -> None:
    """cost.csv sums to the total, and its columns and items to the lines."""
    lines = {line["name"]: Decimal(line["money"]["amount"]) for line in summary["bill"]["lines"]}
    sheet = rows(folder)
    assert sum(Decimal(row["cost"] or 0) for row in sheet) == sum(lines.values())
    for name, amount in lines.items():
        column = name if name in ("measured", "tail", "classifier", "retries", "failed") else "cost"
        of = [row for row in sheet if row["item"] == ("questions" if column == name else name)]
        assert sum((Decimal(row[column] or 0) for row in of), Decimal(0)) == amount, name


def test_questions_are_counted_once(folder: Path, summary: dict[str, Any]) -> None:
    """Asked, answered and correct of the sheet are those of the arms."""
    sheet = rows(folder)
    for count in ("asked", "answered", "correct"):
        told = sum(arm["cost"][count] for arm in summary["arms"])
        assert sum(int(row[count] or 0) for row in sheet) == told, count


def test_the_page_shows_the_lines_and_their_sum(folder: Path, summary: dict[str, Any]) -> None:
    """Each line at its place in summary.json, with its raw value."""
    html = (folder / "report.html").read_text()
    shown = re.findall(r'<data value="([^"]*)" data-at="(/bill/[^"]*amount)"', html)
    found = {place: value for value, place in shown}
    lines = summary["bill"]["lines"]
    expected = {
        f"/bill/lines/{place}/money/amount": line["money"]["amount"]
        for place, line in enumerate(lines) if Decimal(line["money"]["amount"])
    }  # fmt: skip
    assert found.items() >= expected.items()
    assert found["/bill/lines/4/money/amount"] == "0"  # retries, that there were, and that they cost nothing
    assert found["/bill/total/amount"] == summary["bill"]["total"]["amount"]


def test_the_report_has_its_pictures(folder: Path) -> None:
    """report.md links to PNGs that are there, each with a text."""
    linked = re.findall(r"!\[([^\]]+)\]\((pictures/[a-z]+\.png)\)", (folder / "report.md").read_text())
    assert [path for _, path in linked] == ["pictures/latency.png", "pictures/cost.png", "pictures/tokens.png"]
    for text, path in linked:
        assert len(text) > 40
        assert (folder / path).read_bytes().startswith(b"\x89PNG")
