"""What of two sides' retrieval differs: options of a retriever that has a table, and an index that is not the same."""

from __future__ import annotations

from typing import Any

import pytest
from compared import answers, plan, run_of

from loadrig.analysis.compare.settings import settings
from loadrig.analysis.compare.sides import pairs

ARM = {"name": "k5", "kind": "Rag", "k": 5, "retriever": "mine"}


def table(name: str, kind: str, **options: object) -> dict[str, object]:
    return {"name": name, "kind": kind, "options": options}


def side(k1: float = 1.5, *, of: str = "stemmed", index: str | None = "a" * 64, **given: Any) -> dict[str, Any]:
    """A manifest whose arm searches through `mine`, which searches through another."""
    tables = [table("mine", "recency", of=of, weight=0.3), table("stemmed", "bm25", k1=k1), table("unused", "dense")]
    built = {"index": {"mine": {"build_ns": 1} | ({"sha256": index} if index else {})}}
    return {**plan(arms=[{**ARM, **given.pop("arm", {})}], retriever=tables), **built, **given}


def counted(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    ((a, b),) = pairs(run_of("a", answers(1, 2), first), run_of("b", answers(1, 2), second))
    return [one.what for one in settings(a, b).counted]


B = "b" * 64


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (side(), []),
        (side(index=B), ["index of mine, by its hash"]),
        (side(index=None), []),
        (side(k1=0.9, index=B), ["retriever stemmed: k1"]),
        (side(of="bm25", index=B), ["retriever mine: of"]),
        (side(arm={"retriever": "bm25"}), ["arm's retriever"]),
        (side(index=B, corpus={"sha256": "ab"}), ["corpus"]),
        (side(index=B, version="0.2.0"), ["loadrig"]),
        (side(index=B, instructions={"DIRECT": "bc"}), ["instructions", "index of mine, by its hash"]),
    ],
)
def test_an_index_counts_where_nothing_says_why_it_differs(other: dict[str, Any], found: list[str]) -> None:
    """The same; another index of the same; one not told; an option of what is searched through, and what that is;
    another retriever; what an index follows from; and what it does not follow from."""
    assert counted(side(), other) == found
