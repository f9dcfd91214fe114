"""What one more passage costs, and where retrieval costs what full context does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import read_run, record

from loadrig.analysis.width import FULL_CONTEXT, Width, widths
from loadrig.words.record import Usage

RAG = "loadrig.arms.rag:Rag"


def arm(k: int, **more: Any) -> dict[str, Any]:
    return {"name": f"rag-k{k}", "kind": RAG, "retriever": "bm25", "unit": "chunk", "order": "rank", "k": k, **more}


def measured(folder: Path, tokens: dict[str, int], *described: dict[str, Any]) -> tuple[Width, ...]:
    records = [record(name, arm=name, usage=Usage(input=prompt, output=1)) for name, prompt in tokens.items()]
    plan = {"name": "p", "timezone": "UTC", "arms": list(described)}
    return widths(read_run(folder, records, plan=plan, corpus={"chunks": 42}))


def test_the_studys_figures_come_out(tmp_path: Path) -> None:
    """A-105 to A-107: 546 tokens a passage, 186 without any, as dear as full context at 32.8 passages of 42."""
    tokens = {"rag-k3": 1_824, "rag-k5": 2_916, "rag-k10": 5_646, "rag-k20": 11_106, "full_context": 18_081}
    described = [arm(k) for k in (3, 5, 10, 20)]
    (found,) = measured(tmp_path, tokens, *described, {"name": "full_context", "kind": FULL_CONTEXT})
    assert [found.each, found.start] == pytest.approx([546, 186])
    assert found.crossover == pytest.approx(32.77, abs=0.01)
    assert (found.full, found.passages, found.points[3]) == (18_081, 42, 1_824)


def test_only_arms_that_differ_in_k_alone_are_on_a_line(tmp_path: Path) -> None:
    """One in document order and one over whole documents have no second point each, so there is no line."""
    described = (arm(3), {**arm(5, order="document"), "name": "b"}, {**arm(5, unit="document"), "name": "c"})
    assert measured(tmp_path, {"rag-k3": 1_000, "b": 2_000, "c": 9_000}, *described) == ()


def test_without_full_context_there_is_no_crossover(tmp_path: Path) -> None:
    """The line is there; what it would have to reach is not known."""
    (found,) = measured(tmp_path, {"rag-k3": 1_000, "rag-k5": 2_000}, arm(3), arm(5))
    assert (round(found.each, 6), found.full, found.crossover) == (500, None, None)
