"""The doctor at servers of other people, where they are installed: mocks of two dialects, and a real model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from examined import MODEL, by_check, examined
from real_model import real_model

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
pytestmark = pytest.mark.realserver


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    """llmock's address. Skips where it is not installed."""
    sys.path.append(str(BENCHMARKS))
    peers = importlib.import_module("peers")
    sys.path.remove(str(BENCHMARKS))
    program = peers.program("llmock")
    if program is None:
        pytest.skip("llmock is not installed (not on PATH, LLMOCK not set)")
    with peers.serving([program, "serve", "-h", "127.0.0.1", "-p", "{port}", "--log-level", "warning"]) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with real_model() as url:
        yield url


def test_a_mock_is_told_as_what_it_is(mock: str) -> None:
    """Canned replies of a few words: they come, with usage and tools; lengths, caches and counts are not there."""
    found = examined(f"{mock}/anthropic")
    checks = by_check(found)
    assert found.makes_sense
    assert {name: checks[name].state for name in ("usage", "tools", "max_tokens", "count_tokens", "caching")} == {
        "usage": "ok", "tools": "ok", "max_tokens": "broken", "count_tokens": "not there", "caching": "cannot tell",
    }  # fmt: skip


def test_the_other_dialect_of_a_mock_is_examined_as_well(mock: str) -> None:
    """At its own address, with what that dialect tells."""
    found = examined(f"{mock}/v1", replace(MODEL, provider="openai"))
    assert found.makes_sense
    assert by_check(found)["usage"].state == "ok"


def test_a_real_model_is_examined_to_the_end(model: str) -> None:
    """However slow this machine makes it: its dialect is understood, each check ends, and the page has a verdict."""
    found = examined(model, limit_s=30)
    assert by_check(found)["dialect"].state == "ok", found.verdict
    assert "errors" in by_check(found)
