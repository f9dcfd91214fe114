"""The tables of experiments: what a reader sees of effects, curves and thresholds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experimented import bits, described
from records import record, write_run

from loadrig.analysis.summary import summarize
from loadrig.log import read_run
from loadrig.reports.experiments import tables
from loadrig.reports.table import Table


def shown(folder: Path, arms: list[dict[str, Any]], right: dict[tuple[str, str], str]) -> dict[str, Table]:
    records = [
        record(f"{model}-{arm}-{i}", model=model, arm=arm, question=f"q{i}", answer="yes" if bit == "1" else "no")
        for (model, arm), row in right.items()
        for i, bit in enumerate(row)
    ]
    plan = {"name": "p", "timezone": "UTC", "arms": arms}
    return {table.title: table for table in tables(summarize(read_run(write_run(folder, records, plan=plan))))}


def test_a_run_without_experiments_has_no_such_table(tmp_path: Path) -> None:
    """One arm of a kind: nothing to tell."""
    assert shown(tmp_path, [described("full_context", "full_context")], {("m", "full_context"): "11"}) == {}


def test_an_effect_stands_with_its_n_its_word_and_what_could_have_been_seen(tmp_path: Path) -> None:
    """One of four questions lost: 25 points inside the noise, and no difference that four questions could show."""
    arms = [described("rag", name, chronology=name == "with") for name in ("with", "without")]
    found = shown(tmp_path, arms, {("m", "with"): "1111", ("m", "without"): "1110"})
    row = found["What an option does"].rows[0]
    assert row[:5] == ("rag: chronology true to false, right", "4", "100.0", "75.0", "-25.0 points")
    assert row[7:] == ("inside noise", "-", "1")
    assert found["Proof of the ablations"].rows[0][:4] == ("with / without", "chronology", "not checked", "0")


def test_proofs_that_say_the_same_are_one_row(tmp_path: Path) -> None:
    """Two pairs of arms, neither of which could be checked: the first one's name, and how many more."""
    arms = [described("rag", f"k{k}-{there}", k=k, rejected=bool(there)) for k in (3, 5) for there in (1, 0)]
    found = shown(tmp_path, arms, {("m", str(arm["name"])): "11" for arm in arms})
    assert [row[:3] for row in found["Proof of the ablations"].rows] == [
        ("k3-1 / k3-0 and 1 more", "rejected", "not checked")
    ]


def test_a_curve_says_what_was_looked_for(tmp_path: Path) -> None:
    """Found with its numbers, or looked for and not found."""
    arms = [described("rag", f"k{k}", k=k) for k in (3, 5, 10)]
    right = {("m", f"k{k}"): bits(n) for k, n in ((3, 8), (5, 18), (10, 8))}
    (row,) = shown(tmp_path, arms, right)["Accuracy over k: is there an inverted U"].rows
    assert row[:6] == ("rag", "3: 8, 5: 18, 10: 8", "20", "5", "10, 0 (p 0.0020)", "0, 10 (p 0.0020)")
    assert row[8] == "found"


def test_models_stand_side_by_side_and_no_threshold_is_said(tmp_path: Path) -> None:
    """Two models that lose alike: none seen, in words."""
    arms = [described("rag", "k3", k=3), described("full_context", "full")]
    right = {(model, arm): bits(n) for model in ("a", "b") for arm, n in (("k3", 10), ("full", 9))}
    found = shown(tmp_path, arms, right)
    assert [row[:3] for row in found["Wide against narrow context, by model"].rows] == [
        ("full - k3, all", "a", "20"), ("full - k3, all", "b", "20"),
    ]  # fmt: skip
    assert found["Threshold between models"].rows == (("full - k3, all", "none seen", "-", "-", "-", "-", "-"),)
