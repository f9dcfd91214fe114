"""The tables of documents that changed in mid-run: every figure in its column, in its unit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from records import MS, S, read_run, record

from loadrig.analysis.freshness import (
    Answers,
    ArmFreshness,
    CacheReset,
    Freshness,
    IndexFreshness,
    Seen,
    WorkerFreshness,
)
from loadrig.analysis.summary import summarize
from loadrig.reports.freshness import tables

ARM = ArmFreshness(
    "rag",
    "m",
    Seen(requests=9, new=5, old=3, unknown=1, seen_ns=1500 * MS, let_go_ns=2250 * MS),
    {"w1": Seen(4, 2, 1, 0, 1500 * MS, -250 * MS), "w2": Seen(5, 3, 2, 1, 1750 * MS, None)},
    CacheReset(n=3, writing=2, written=1810, first=900),
    Answers(n=6, right=4, told=5, stale=1),
)
WORKERS = (
    WorkerFreshness("w1", 6 * MS, MS // 2, {"bm25": IndexFreshness(2 * S, 700 * MS, 4 * MS, None)}, None),
    WorkerFreshness("w2", 7 * MS, None, {}, None),
)


def test_every_figure_stands_in_its_column(tmp_path: Path) -> None:
    """Of nine requests eight are on file, five with new and three with old wording; of three two wrote 1,810 tokens;
    four of six are right, one of five is stale. A worker's texts and clock are in ms, its index in s, loading in ms."""
    found = Freshness(5.0, "noon", ("a",), ("b", "c"), (), 6, (ARM,), WORKERS)
    arms, workers = tables(replace(summarize(read_run(tmp_path, [record("t1")])), freshness=found))
    assert arms.rows == (
        ("rag", "9", "5/8", "3/8", "1.500", "2.250", "2/3", "1,810", "4/6", "1/5"),
        ("  on w1", "4", "2/4", "1/4", "1.500", "-0.250", "-", "-", "-", "-"),
        ("  on w2", "5", "3/4", "2/4", "1.750", "-", "-", "-", "-", "-"),
    )
    assert arms.notes[0] == "documents 1 replaced, 2 added, 5 s after the begin, at noon"
    assert workers.rows == (
        ("w1", "6.0", "0.5", "bm25", "2.000", "0.700", "4.0"), ("w2", "7.0", "-", "-", "-", "-", "-"),
    )  # fmt: skip
    assert [len(table.headers) for table in (arms, workers)] == [10, 7]
