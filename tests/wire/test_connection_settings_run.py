"""A whole run with headers of the plan, by the command: said aloud, their secret in no file, a header reaching all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import QUICK, loadrig, only_run, write_plan
from simulator_process import simulator

SECRET = "gateway-secret-that-nobody-may-see"


def test_a_run_with_headers_says_so_and_keeps_their_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest has the header's name and the variable's, at the endpoint, in the plan and in a warning."""
    monkeypatch.setenv("GATEWAY_KEY", SECRET)
    headers = '[model.headers]\nx-gateway-key = "$GATEWAY_KEY"\nx-team = "search"\n[[arm]]\nkind = "control"'
    with simulator("quick") as target:
        text = QUICK.replace('"simulator"', f'"{target}"').replace('scenario = "SCENARIO"\n', "")
        plan = write_plan(tmp_path, text.replace('[[arm]]\nkind = "control"', headers, 1))
        called = loadrig("run", plan, "--limit", "2", "--arm", "rag", "--inline", "--out", tmp_path / "results")
    assert called.code == 0, called.err
    run = only_run(tmp_path / "results")
    assert run.manifest["endpoints"] == {"claude-haiku-5-5": f"{target} with the headers x-gateway-key, x-team"}
    assert run.manifest["plan"]["model"][0]["headers"] == {"x-gateway-key": "$GATEWAY_KEY", "x-team": "search"}
    assert any("have headers of the plan: x-gateway-key, x-team" in one for one in run.manifest["warnings"])
    everything = b"".join(path.read_bytes() for path in run.path.rglob("*") if path.is_file())
    assert SECRET.encode() not in everything
    assert SECRET not in called.out + called.err + json.dumps(run.manifest)
