"""Tables of long contexts: what they say of probes and of single needles, and that other runs have none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from records import question, read_run, record

from loadrig.analysis.summary import summarize
from loadrig.reports.long_context import tables
from loadrig.reports.table import Table
from loadrig.words.record import Record

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


def test_an_ordinary_question_is_no_probe(tmp_path: Path) -> None:
    """Beside a single needle one chain counts, and the fact of the corpus does not."""
    kinds = {"a": ("single_needle", True), "b": ("chain", True), "c": ("fact", False)}
    (row,) = found(tmp_path, kinds)["Single needles and all other probes"].rows
    assert (row[1][:3], row[2][:3]) == ("1/1", "1/1")


def placed(arm: str, question_: str, repetition: int, **given: Any) -> Record:
    given = {"answer": "yes", "context_tokens": int(arm[1:]), **given}
    return record(f"{arm}-{question_}-{repetition}", arm=arm, question=question_, repetition=repetition, **given)


def by_length(folder: Path, at_long: Mapping[str, tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Table]:
    """Ten questions asked twice at 8,000 tokens, all right, and at 16,000, where some end in another way."""
    arms = [
        {"name": f"p{n}", "kind": "loadrig.arms.placed:PlacedGold", "length": n, "band": "40-60%", "seed": 7}
        for n in (8000, 16000)
    ]
    names = [f"q{n}" for n in range(10)]
    records = [
        placed(arm, name, repetition, **(at_long[name][repetition] if arm == "p16000" and name in at_long else {}))
        for arm in ("p8000", "p16000") for name in names for repetition in (0, 1)
    ]  # fmt: skip
    asked = [question(name, gold=("d",)) for name in names]
    run = read_run(folder, records, plan={"name": "p", "arms": arms}, questions=asked)
    return {table.title: table for table in tables(summarize(run))}


REFUSED = {"outcome": "unanswered", "reason": "refused", "answer": ""}
DECLINED = {"answer": "The documents do not say."}


def test_sizes_are_trials_and_means_over_questions(tmp_path: Path) -> None:
    """At 16,000 q0 is refused twice, q1 once, q2 declined twice: 3 of 20 trials and 1.5 of 10 questions, 5 and 2.5,
    and of the first answers 8 of 10 are right."""
    found_at = by_length(tmp_path, {"q0": (REFUSED, REFUSED), "q1": ({}, REFUSED), "q2": (DECLINED, DECLINED)})
    sizes = found_at["Refusals and accuracy by size of context"]
    cells = [cell.partition(" [")[0] for cell in sizes.rows[1]]
    assert cells == ["placed, 16,000", "3/20 (10): .150", "5/20 (10): .250", "8/10 (10): .800"]
    rise = next(note for note in sizes.notes if "placed, m: refused" in note)
    assert rise.startswith("placed, m: refused 0.0% at 8,000, 15.0% at 16,000 (n = 10, ")
    assert rise.endswith("no rise beyond noise")
    assert found_at["Effective length"].rows == (
        ("placed, 0.85 x base", "1", ".850", "8,000", "-", "-"), ("placed, 0.856", "-", ".856", "8,000", "-", "-"),
    )  # fmt: skip


def test_where_the_longest_keeps_its_accuracy_more_may_too(tmp_path: Path) -> None:
    """Ten of ten at both lengths."""
    rows = by_length(tmp_path, {})["Effective length"].rows
    assert [row[3] for row in rows] == ["16,000 or more", "16,000 or more"]


def test_a_gap_stands_with_its_adjusted_p(tmp_path: Path) -> None:
    """26, 20 and 26 of 50: each end six better, p .03125, of two .0625."""
    arms = [
        {"name": f"placed-8k-b{band}", "kind": "loadrig.arms.placed:PlacedGold", "length": 8000, "band": f"{band}%"}
        for band in ("0-10", "40-60", "90-100")
    ]
    records = [
        record(f"{arm['name']}-{n}", arm=arm["name"], question=f"q{n}", answer="yes" if n < right else "no",
               depths=(0.5,), context_tokens=8000)
        for arm, right in zip(arms, (26, 20, 26), strict=True) for n in range(50)
    ]  # fmt: skip
    asked = [question(f"q{n}", gold=("d",)) for n in range(50)]
    summary = summarize(read_run(tmp_path, records, plan={"name": "p", "arms": arms}, questions=asked))
    rows = next(table for table in tables(summary) if table.title == "Is the middle missed").rows
    assert rows[0][:6] == ("placed-8k: 0-10 % over 40-60 %", "50", "yes", "0.52", "0.40", "+0.12")
    assert [row[7:] for row in rows] == [("0.0625", "inside noise")] * 2


def test_a_run_without_any_of_it_has_no_table(tmp_path: Path) -> None:
    """Ordinary questions at no known depth, in one size."""
    assert found(tmp_path, {"a": ("fact", True)}) == {}


def test_depths_of_probes_are_told_with_what_was_reached(tmp_path: Path) -> None:
    """One question at 5 %: a band of one, no gap."""
    tables_of = found(tmp_path, {"a": ("single_needle", True)}, depths=(0.05,))
    (row,) = tables_of["Accuracy by depth"].rows
    assert (row[0], row[1][:3], row[3], row[4]) == ("full_context, 0-10 %", "1/1", "5.0% to 5.0%", "0")
    assert "Is the middle missed" not in tables_of
