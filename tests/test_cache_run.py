"""Runs with a prompt cache through the whole command: primed before the fan-out, billed apart, told in the report.

Two callers ask, who see the same documents; the simulator's own log says what was charged.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from command import FAST, loadrig, only_run, write_plan

from loadrig.log import RunFolder, read_run

PLAN = """\
name = "kept"
[corpus]
path = "corpora/tiny"
[questions]
path = "FOLDER/questions.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "FOLDER/kept.toml"
[prices]
path = "FOLDER/prices.toml"
[[arm]]
kind = "control"
[[arm]]
kind = "full_context"
cache = ["off", "5m", "1h"]
[[arm]]
kind = "full_context"
cache = "5m"
cold = true
prime = false
[load]
concurrency = [4]
warmup = 0
workers = 1
cycle = false
"""
PRIMED = ("full_context-cache5m", "full_context-cache1h")
UNPRIMED = "full_context-cache5m-cold-unprimed"
RATES = {"input": "3.00", "output": "15.00", "cache_write_5m": "3.75", "cache_write_1h": "6.00", "cache_read": "0.30"}
PRICES = """[[price]]
model = "claude-haiku-5-5"
effective_from = 2020-01-01
source = "invented"
seen = 2026-11-01
currency = "USD"
cache_minimum = 64
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """One run of the plan, its questions asked by red and blue in turn."""
    folder = tmp_path_factory.mktemp("kept")
    rows = [json.loads(line) for line in Path("questions/tiny.jsonl").read_text().splitlines()]
    named = [{**row, "caller": [("red", "blue")[number % 2]]} for number, row in enumerate(rows)]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, named)))
    (folder / "prices.toml").write_text(PRICES + "".join(f'{kind} = "{rate}"\n' for kind, rate in RATES.items()))
    (folder / "kept.toml").write_text(FAST + "cache_minimum_tokens = 64\n")
    plan = write_plan(folder, PLAN.replace("FOLDER", str(folder)))
    called = loadrig("run", plan, "--out", folder / "results", "--inline")
    assert called.code == 0, called.err
    assert "Prompt cache" in called.out
    return only_run(folder / "results")


def summary(run: RunFolder) -> Any:
    return json.loads((run.path / "summary.json").read_text())


def arm_of(run: RunFolder, name: str) -> Any:
    (found,) = (one for one in summary(run)["caching"] if one["arm"] == name)
    return found


def test_each_prefix_is_asked_for_once_a_caller_before_the_trials(kept: RunFolder) -> None:
    """Two arms by two callers: four calls, each of which wrote and read nothing, though all documents are the same;
    they are on record as what they are, and no trials."""
    primers = [record for record in kept.probes if record.turns[-1].purpose == "prime"]
    wanted = Counter((arm, (caller,)) for arm in PRIMED for caller in ("red", "blue"))
    assert Counter((record.arm, record.caller) for record in primers) == wanted
    assert {(one["written"] > 0, one["read"]) for one in kept.manifest["priming"]} == {(True, 0)}
    assert sum(row["planned"] for row in summary(kept)["counts"][:1]) == len(kept.trials) == len(kept.records)
    assert max(record.end_ns or 0 for record in primers) < min(record.begin_ns or 0 for record in kept.records)


def test_every_primed_trial_reads_and_says_so(kept: RunFolder) -> None:
    """No miss in any trial, nothing written; more than nine tenths of the prompt were read."""
    for arm in PRIMED:
        found = arm_of(kept, arm)
        assert (found["hits"], found["writes"]) == (found["requests"], 0)
        assert found["hit_share"] > 0.9
        assert (found["warm"]["n"], found["cold"]["n"]) == (found["requests"], 0)
        assert [(miss["when"], miss["reason"], miss["n"]) for miss in found["misses"]] == [("priming", "first", 2)]


def test_unprimed_those_that_begin_together_all_write(kept: RunFolder) -> None:
    """The first of each caller, and who began beside it: nothing is unexplained, and a miss costs more than a hit."""
    found = arm_of(kept, UNPRIMED)
    reasons = {miss["reason"]: miss["n"] for miss in found["misses"]}
    assert reasons["first"] == 2
    assert set(reasons) <= {"first", "concurrent"}
    assert found["cold"]["n"] == sum(reasons.values())
    if found["warm"]["n"]:
        assert Decimal(found["cold"]["cost"]["per_asked"]) > Decimal(found["warm"]["cost"]["per_asked"])


def test_the_bill_is_the_endpoints_log_by_the_price_table(kept: RunFolder) -> None:
    """Every request in the log, its tokens by kind times the rates: the total, and of priming its own line."""
    rows = [json.loads(line) for line in (kept.path / "truth.jsonl").read_text().splitlines()]
    asked = {row["attempt"]: row for row in rows if row["path"] == "/v1/messages"}

    def cost(row: Any) -> Decimal:
        return sum((row[kind] * Decimal(rate) for kind, rate in RATES.items()), Decimal(0)) / 1_000_000

    bill = summary(kept)["bill"]
    lines = {line["name"]: Decimal(line["money"]["amount"]) for line in bill["lines"]}
    assert Decimal(bill["total"]["amount"]) == sum(map(cost, asked.values())) == sum(lines.values())
    primers = [record for record in kept.probes if record.turns[-1].purpose == "prime"]
    assert lines["priming"] == sum(cost(asked[f"{record.trial}.1.1"]) for record in primers) > 0


def test_the_check_of_the_cache_passes(kept: RunFolder) -> None:
    """A-82: the arms without a cache were not cached, those with one read from it."""
    verdicts = {one["name"]: one["verdict"] for one in summary(kept)["safeguards"]}
    assert verdicts["cache"] == "passed"


def test_the_report_has_the_tables(kept: RunFolder) -> None:
    """What was read, warm beside cold, and the reasons."""
    text = (kept.path / "report.md").read_text()
    for title in ("## Prompt cache", "## Warm and cold", "## Requests that read nothing from the cache"):
        assert title in text


def test_a_run_that_is_taken_up_is_primed_again(kept: RunFolder, tmp_path: Path) -> None:
    """Without its last record it asks that one trial, and before it, once, the prefix of its arm and its caller."""
    folder = shutil.copytree(kept.path, tmp_path / "kept")
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    missing = next(number for number, line in enumerate(lines) if f'"arm":"{PRIMED[0]}"' in line)
    trial = json.loads(lines.pop(missing))
    (folder / "records.jsonl").write_text("".join(lines))
    called = loadrig("run", kept.path.parents[1] / "quick.toml", "--inline", "--resume", folder)
    assert called.code == 0, called.err
    run = read_run(folder)
    later = run.manifest["priming"][len(kept.manifest["priming"]) :]
    assert [(one["arm"], one["caller"]) for one in later] == [(trial["arm"], trial["caller"])]
    assert len(run.records) == len(kept.records)
