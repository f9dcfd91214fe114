"""The questions of the two original corpora together: enough of each kind to tell arms apart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAST = {"paraphrase": 30, "aggregation": 30, "supersession": 30, "negative_trap": 30, "multi_hop": 20}


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    files = [ROOT / "questions" / f"{name}.jsonl" for name in ("huskbook", "ottilane")]
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def test_more_than_two_hundred_with_enough_of_each_kind(lines: list[dict[str, Any]]) -> None:
    """Over 200 questions; at least 30 paraphrases, aggregations, supersessions and traps, 20 that need two papers."""
    counts = Counter(line["category"] for line in lines)
    assert len(lines) > 200
    assert {category: counts[category] for category in LEAST if counts[category] < LEAST[category]} == {}


def test_most_supersessions_are_about_existence(lines: list[dict[str, Any]]) -> None:
    """At least 30 ask whether something is there or allowed after a "no"; at most half as many ask a value."""
    shapes = Counter(line.get("subtype") for line in lines if line["category"] == "supersession")
    assert shapes["existence"] >= 30
    assert shapes["value"] <= shapes["existence"] / 2


def test_five_and_more_need_a_negative_fact_about_every_document(lines: list[dict[str, Any]]) -> None:
    """Their answer is derived from what papers do not mention, and their gold documents are all papers."""
    silent = [line for line in lines if (line.get("derivation") or {}).get("mentioned") is False]
    assert len(silent) >= 5
    assert {len(line["gold"]) for line in silent} == {12, 22}
