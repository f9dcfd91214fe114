"""Stale and invented answers of two runs: what is paired, by whose marks, and which word they earn."""

from __future__ import annotations

from pathlib import Path

import pytest
from compared import answers, nothing_to_collect, run_of  # noqa: F401
from records import failed, question, record

from loadrig.analysis.compare.marks import Marked
from loadrig.analysis.compare.whole import compare
from loadrig.analysis.compare.words import ALPHA
from loadrig.log import RunFolder
from loadrig.reports.compare import findings, write
from loadrig.statistics.clustered import Draws
from loadrig.words.record import Record
from loadrig.words.score import Grading, Score

FEW = Draws(bootstraps=300, permutations=999)


def keyed(name: str, records: list[Record], **given: object) -> RunFolder:
    """A run whose questions have a superseded value, `red`, and one that must not be said, `blue`."""
    questions = {
        r.question: question(r.question, category="fact", stale=("red",), must_not_contain=("blue",)) for r in records
    }
    return run_of(name, records, questions=questions, **given)


def said(*words: str, arm: str = "k5") -> list[Record]:
    return [
        record(f"{arm}-{i}", question=f"q{i}", arm=arm, category="fact", answer=word) for i, word in enumerate(words)
    ]


def rows(a: RunFolder, b: RunFolder) -> dict[str, Marked]:
    (pair,) = compare(a, b, draws=FEW).pairs
    return {row.mark: row for row in pair.marks}


def test_the_parts_of_all_tests_are_five_percent() -> None:
    """A family that is added takes its part from another."""
    assert sum(ALPHA.values()) == pytest.approx(0.05)


def test_stale_and_invented_are_paired_by_question() -> None:
    """12 of 20 became stale, three are invented no longer: each named; 12 of one way are a finding, three are not."""
    a = keyed("a", said(*["yes"] * 12, *["blue"] * 3, *["yes"] * 5))
    found = rows(a, keyed("b", said(*["red"] * 12, *["yes"] * 8)))
    stale, invented = found["stale"], found["invented"]
    assert (stale.marked_a, stale.marked_b, stale.n, round(stale.p, 5), stale.word) == (0, 12, 20, 0.00049, "higher")
    assert (invented.marked_a, invented.marked_b, invented.went, invented.word) == (
        3, 0, ("q12", "q13", "q14"), "inside noise",
    )  # fmt: skip
    assert (stale.came[:2], stale.went, stale.by) == (("q0", "q1"), (), "rule")


def test_holm_is_over_both_marks_of_all_arms() -> None:
    """Nine of one way alone have p .0039, within the part; beside the other mark it is doubled, and no finding."""
    found = rows(keyed("a", said(*["yes"] * 20)), keyed("b", said(*["red"] * 9, *["yes"] * 11)))
    assert (round(found["stale"].p, 4), round(found["stale"].adjusted_p, 4)) == (0.0039, 0.0078)
    assert found["stale"].word == "inside noise"


def test_what_was_not_answered_has_no_mark() -> None:
    """q0 failed in b: nineteen questions are compared, and nobody is less stale by failing."""
    b = [failed("f", question="q0", arm="k5", category="fact"), *said(*["yes"] * 20)[1:]]
    found = rows(keyed("a", said("red", *["yes"] * 19)), keyed("b", b))
    assert (found["stale"].n, found["stale"].marked_a) == (19, 0)


def test_without_superseded_values_there_is_nothing_to_compare() -> None:
    """Keys that name none: no row, and no test that would weigh on others."""
    assert rows(run_of("a", answers(5, 20)), run_of("b", answers(5, 20))) == {}


def test_the_grading_that_counts_is_named() -> None:
    """A sheet's marks against the pre-check's: both are named, and the sheet's are taken."""
    records = said(*["yes"] * 20)
    marks = {(r.trial, r.try_no): Score("anna", r.trial, r.try_no, True, True, False) for r in records}
    b = keyed("b", records, grading=Grading("the sheet of anna", "sheet", ("anna",), marks))
    found = rows(keyed("a", said(*["yes"] * 20)), b)["stale"]
    assert (found.by, found.marked_a, found.marked_b) == ("rule / the sheet of anna", 0, 20)


def test_what_the_control_knows_leaves() -> None:
    """q0 is known in b: nineteen are compared."""
    control = record("c", arm="control", question="q0", category="fact", answer="yes")
    a = keyed("a", [*said(*["red"] * 20), record("c", arm="control", question="q0", category="fact", answer="no")])
    found = compare(a, keyed("b", [*said(*["red"] * 20), control]), draws=FEW)
    assert [[row.n for row in pair.marks] for pair in found.pairs] == [[], [19, 19]]


def test_the_page_tells_what_became_stale(tmp_path: Path) -> None:
    """In the findings with its numbers, in a table with its n, and question by question."""
    found = compare(keyed("a", said(*["yes"] * 20)), keyed("b", said(*["red"] * 12, *["yes"] * 8)), draws=FEW)
    text = write(found, None, tmp_path).read_text()
    assert any(line.startswith("k5: stale answers by rule: higher, 0/20 to 12/20, +60.0 [") for line in findings(found))
    assert "## Stale and invented answers" in text
    assert "q11" in text.split("## Questions that differ")[1]
