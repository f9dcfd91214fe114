"""Servers of other people, each as it is, by `benchmarks/server_matrix.py`: those that are installed, none fetched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "server_matrix.py"
pytestmark = pytest.mark.realserver


def row(server: str) -> dict[str, Any]:
    """What a small run on it came to. Skips where it is not installed."""
    command = [sys.executable, str(SCRIPT), "--installed", "--json", "--only", server]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    if not found:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return found[0]


def test_a_plain_web_server_is_told_as_what_it_is() -> None:
    """Twelve failures, each with the server's status and its own words, and none of its markup."""
    told = row("a plain web server")
    assert (told["trials"], told["works"]) == ("12 failed", "no")
    assert told["says"].startswith('12 http_5xx "')
    assert "Unsupported method" in told["says"]
    assert "<" not in told["says"]


@pytest.mark.parametrize("server", ["fakellm", "llm-mock-api", "llmock"])
def test_a_server_that_speaks_the_api_works(server: str) -> None:
    """Every trial is answered, or its agent's turns are used up."""
    told = row(server)
    assert told["works"] == "yes"
    assert "failed" not in told["trials"]


def test_a_stream_that_never_opens_is_taken_and_said() -> None:
    """stubllm sends no message_start: answers are answers, prompt tokens unknown, and every turn says why."""
    told = row("stubllm")
    assert (told["trials"], told["works"]) == ("12 answered", "yes")
    assert told["tokens"].startswith("unknown, ")
    assert told["says"].startswith("12 x the stream had no message_start")
