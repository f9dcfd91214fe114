"""Tables of long contexts: what they say of probes and of single needles, and that other runs have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from records import question, read_run, record

from loadrig.analysis.summary import summarize
from loadrig.reports.long_context import tables
from loadrig.reports.table import Table

PLAN = {"name": "p", "arms": [{"name": "full_context", "kind": "loadrig.arms.full_context:FullContext"}]}


def found(folder: Path, kinds: dict[str, tuple[str, bool]], **more: Any) -> dict[str, Table]:
    """The tables of a run in which each question, of its kind, was answered rightly or not."""
    records = [
        record(name, arm="full_context", question=name, category=kind, answer="yes" if right else "no")
        for name, (kind, right) in kinds.items()
    ]
    asked = [question(name, category=kind, gold=("d",), **more) for name, (kind, _) in kinds.items()]
    run = read_run(folder, records, plan=PLAN, questions=asked)
    return {table.title: table for table in tables(summarize(run))}


def test_single_needles_are_no_proof(tmp_path: Path) -> None:
    """B-16: two of two single needles beside none of two others, and the sentence below them."""
    kinds = {"a": ("single_needle", True), "b": ("single_needle", True), "c": ("chain", False), "d": ("twin", False)}
    table = found(tmp_path, kinds)["Single needles and all other probes"]
    ((arm, single, others),) = table.rows
    assert (arm, single[:3], others[:3]) == ("full_context", "2/2", "0/2")
    assert "is no proof that the context is used" in table.notes[0]


def test_a_run_without_any_of_it_has_no_table(tmp_path: Path) -> None:
    """Ordinary questions at no known depth, in one size."""
    assert found(tmp_path, {"a": ("fact", True)}) == {}


def test_depths_of_probes_are_told_with_what_was_reached(tmp_path: Path) -> None:
    """One question at 5 %: a band of one, no gap."""
    tables_of = found(tmp_path, {"a": ("single_needle", True)}, depths=(0.05,))
    (row,) = tables_of["Accuracy by depth"].rows
    assert (row[0], row[1][:3], row[3], row[4]) == ("full_context, 0-10 %", "1/1", "5.0% to 5.0%", "0")
    assert "Is the middle missed" not in tables_of
