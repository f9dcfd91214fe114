"""The same simulator behind both dialects: nothing but time may differ, and that is the benchmark's to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from command import QUICK, here, only_run, write_plan

ROOT = Path(__file__).resolve().parents[1]
ARMS = "".join(f'[[arm]]\nkind = "{kind}"\n' for kind in ("decompose", "route", "escalate"))
PLAN = QUICK.replace("[load]", f"{ARMS}[load]")
KEEPING = '[[arm]]\nkind = "cached_core"\n[[arm]]\nkind = "summaries"\n[[arm]]\nkind = "rag"\ncitations = "blocks"\n'


def test_answers_outcomes_calls_and_tokens_are_the_same(tmp_path: Path) -> None:
    """Seven arms over all tiny questions, agentic and routed ones too: every count of every arm is the number of its
    trials."""
    plan = write_plan(tmp_path, PLAN)
    command = [sys.executable, str(ROOT / "benchmarks" / "two_providers.py"), "--plan", str(plan), "--limit", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, cwd=ROOT)

    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    assert {row[0].split("-")[0] for row in rows} >= {"control", "rag", "full_context", "agentic", "decompose"}
    assert all(len(set(row[1:6])) == 1 and int(row[1]) >= 4 for row in rows)


def test_what_the_dialect_has_no_words_for_is_said(tmp_path: Path) -> None:
    """Arms that keep a prefix, build summaries or show citable blocks run; what does not come of it is a warning."""
    head = QUICK[: QUICK.index("[[arm]]")].replace("base_url", 'provider = "openai"\nbase_url')
    plan = write_plan(tmp_path, f"{head}{KEEPING}{QUICK[QUICK.index('[load]') :]}")
    called = here("run", plan, "--out", tmp_path / "results", "--limit", "4")

    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    warnings = " ".join(run.manifest["warnings"])
    assert {record.outcome for record in run.records} == {"answered"}
    assert "can say what is to be cached" in warnings
    assert "as plain documents" in warnings
