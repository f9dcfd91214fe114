"""cost.csv: a sheet whose cost column is the bill, and which can be grouped without counting a question twice."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from records import failed, record, turn, write_run

from loadrig.analysis.summary import summarize
from loadrig.log import read_run
from loadrig.reports.costs import HEADERS, write
from loadrig.words.record import Record, Usage

USED = Usage(input=10, cache_write_5m=2, cache_read=3, output=7)


def priced(trial: str, cost: str | None, **given: object) -> Record:
    return record(trial, cost=cost, turns=(turn(cost, usage=USED),), **given)


def sheet(folder: Path, *records: Record, **given: object) -> list[dict[str, str]]:
    run = read_run(write_run(folder, records, **given))
    with write(run, summarize(run)).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_cost_column_is_the_bill(tmp_path: Path) -> None:
    """0.01 + 0.02 asked, 0.04 failed, 0.08 warm-up: 0.15 in all, 0.07 of it for three questions."""
    records = [
        priced("a", "0.01"), priced("b", "0.02", question="q2"), priced("w", "0.08", phase="warmup"),
        failed("f", question="q3", cost="0.04", turns=(turn("0.04", usage=USED),)),
    ]  # fmt: skip
    rows = sheet(tmp_path, *records)
    assert sum(Decimal(row["cost"]) for row in rows) == Decimal("0.15")
    asked = next(row for row in rows if row["item"] == "questions")
    assert {name: asked[name] for name in ("cost", "measured", "failed", "asked", "answered", "correct")} == {
        "cost": "0.07", "measured": "0.03", "failed": "0.04", "asked": "3", "answered": "2", "correct": "2",
    }  # fmt: skip
    assert (asked["cost_per_answered"], asked["cost_per_correct"]) == ("0.035", "0.035")
    assert (asked["input"], asked["prompt"], asked["cache_write_1h"], asked["thinking"]) == ("30", "45", "", "")


def test_a_data_frame_gets_costs_a_question_at_any_grouping(tmp_path: Path) -> None:
    """Two categories of an arm at 0.01 and 0.03 are 0.02 a question together; warm-up is in no question's cost."""
    sheet(tmp_path, priced("a", "0.01"), priced("b", "0.03", category="trap"), priced("w", "9", phase="warmup"))
    rows = pd.read_csv(tmp_path / "cost.csv").query("item == 'questions'")
    by_arm = rows.groupby("arm")[["cost", "asked"]].sum()
    assert (by_arm.cost / by_arm.asked)["rag"] == pytest.approx(0.02)


def test_an_unknown_charge_is_an_empty_cell_and_counted(tmp_path: Path) -> None:
    """Never 0: a trial with usage and without a price."""
    row = sheet(tmp_path, priced("a", None))[0]
    assert (row["cost"], row["unknown_charges"], row["cost_per_asked"], row["input"]) == ("", "1", "", "10")


def test_no_text_is_a_formula(tmp_path: Path) -> None:
    """An arm, a category and a run by a name that starts one."""
    row = sheet(tmp_path, priced("a", "0.01", arm="=1+1", category="@x"), run="-r")[0]
    assert (row["arm"], row["category"], row["run"], row["cost"]) == ("'=1+1", "'@x", "'-r", "0.01")


def test_a_simulated_run_says_so_in_every_row(tmp_path: Path) -> None:
    """And a run of nothing has its headers."""
    assert {row["simulated"] for row in sheet(tmp_path / "a", priced("a", "0.01"), simulated=True)} == {"simulated"}
    assert sheet(tmp_path / "b") == []
    assert (tmp_path / "b" / "cost.csv").read_text().strip() == ",".join(HEADERS)
