"""Accuracy by depth: the gap of early and middle, and what enters which band."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from records import question, read_run, record

from loadrig.analysis.bands import Depths, depths, gap_of
from loadrig.analysis.experiments.cells import cells
from loadrig.graders.scores import replace
from loadrig.words.record import Failure, Record
from loadrig.words.score import Grader, Score

KIND = "loadrig.arms.placed:PlacedGold"
EARLY, MIDDLE, LATE = "placed-8k-b0-10", "placed-8k-b40-60", "placed-8k-b90-100"


def arm(name: str, band: str, length: int = 8000) -> dict[str, Any]:
    return {"name": name, "kind": KIND, "length": length, "band": band, "seed": 7}


PLAN = {"name": "depth", "arms": [arm(EARLY, "0-10%"), arm(MIDDLE, "40-60%")]}


def answers(arm_name: str, depth: float, right: int, of: int, **given: Any) -> list[Record]:
    """So many right, the first of the questions, and the rest wrong."""
    return [
        record(f"{arm_name}-{n}", arm=arm_name, question=f"q{n}", answer="yes" if n < right else "no", depths=(depth,),
               context_tokens=8000, **given)
        for n in range(of)
    ]  # fmt: skip


def row(folder: Path, records: list[Record], **given: Any) -> Depths:
    given = {"plan": PLAN, "questions": [question(f"q{n}", gold=("d1",)) for n in range(50)], **given}
    run = read_run(folder, records, **given)
    (found,) = depths(run, cells(run))
    return found


def test_early_92_and_middle_74_are_a_gap_of_18(tmp_path: Path) -> None:
    """B-04: 46 and 37 of the same 50 questions; nine differ and all one way, p = 2 / 2^9."""
    found = row(tmp_path, answers(EARLY, 0.05, 46, 50) + answers(MIDDLE, 0.5, 37, 50))
    assert [(band.band, band.right and band.right.share) for band in found.bands] == [("0-10", 0.92), ("40-60", 0.74)]
    (gap,) = found.gaps
    assert (gap.at_end, gap.in_middle, gap.n, gap.paired) == (0.92, 0.74, 50, True)
    assert gap.gap == pytest.approx(0.18)
    assert gap.p == pytest.approx(2 / 2**9)
    assert gap.found


def test_one_question_more_is_no_gap(tmp_path: Path) -> None:
    """37 against 36 is inside the noise."""
    (gap,) = row(tmp_path, answers(EARLY, 0.05, 37, 50) + answers(MIDDLE, 0.5, 36, 50)).gaps
    assert gap.gap == pytest.approx(0.02)
    assert not gap.found


def test_two_ends_are_two_tests(tmp_path: Path) -> None:
    """Six more of fifty at either end are p = 2 / 2^6 each, .03125: Holm makes it .0625, and nothing is claimed."""
    plan = {"name": "depth", "arms": [*PLAN["arms"], arm(LATE, "90-100%")]}
    records = answers(EARLY, 0.05, 26, 50) + answers(MIDDLE, 0.5, 20, 50) + answers(LATE, 0.95, 26, 50)
    gaps = row(tmp_path, records, plan=plan).gaps
    assert [(gap.end, gap.middle) for gap in gaps] == [("0-10", "40-60"), ("90-100", "40-60")]
    assert [gap.p for gap in gaps] == pytest.approx([0.03125, 0.03125])
    assert [gap.adjusted_p for gap in gaps] == pytest.approx([0.0625, 0.0625])
    assert not any(gap.found for gap in gaps)
    assert all(gap.low is not None and gap.low > 0 for gap in gaps)


def test_a_middle_that_is_better_is_no_finding(tmp_path: Path) -> None:
    """37 early and 46 in the middle are beyond noise, and the other way round."""
    (gap,) = row(tmp_path, answers(EARLY, 0.05, 37, 50) + answers(MIDDLE, 0.5, 46, 50)).gaps
    assert (gap.gap, gap.adjusted_p) == pytest.approx((-0.18, 2 / 2**9))
    assert not gap.found


def test_what_could_not_be_placed_is_in_no_gap(tmp_path: Path) -> None:
    """Of ten questions nine were placed in both: eight of nine early, five of nine in the middle."""
    records = [*answers(EARLY, 0.05, 9, 10), *answers(MIDDLE, 0.5, 6, 10)]
    gone = {"reason": "not_placed", "failure": Failure("not_placed", "x"), "outcome": "failed", "answer": ""}
    records[0] = record("gone", arm=EARLY, question="q0", **gone)
    (gap,) = row(tmp_path, records).gaps
    assert (gap.n, gap.at_end, gap.in_middle) == pytest.approx((9, 8 / 9, 5 / 9))


def test_the_depth_that_was_reached_stands_beside_the_band(tmp_path: Path) -> None:
    """Least and most over its questions."""
    records = [*answers(EARLY, 0.02, 1, 1), record("x", arm=EARLY, question="q7", depths=(0.09,), context_tokens=8000)]
    (band,) = row(tmp_path, records).bands
    assert (band.least, band.most) == (0.02, 0.09)


def test_what_could_not_be_placed_is_counted_apart(tmp_path: Path) -> None:
    """It is neither right nor wrong; another failure is not right."""
    failure = {"outcome": "failed", "answer": "", "arm": EARLY}
    records = [
        *answers(EARLY, 0.05, 3, 4),
        record("n", question="q8", reason="not_placed", failure=Failure("not_placed", "x"), **failure),
        record("t", question="q9", reason="timeout", failure=Failure("timeout", "x"), **failure),
    ]
    (band,) = row(tmp_path, records).bands
    assert band.right is not None
    assert (band.right.k, band.right.n, band.not_placed) == (3, 5, 1)


def test_a_trap_is_in_no_band(tmp_path: Path) -> None:
    """A question without gold has no depth."""
    records = [*answers(EARLY, 0.05, 1, 1), record("t", arm=EARLY, question="q2", context_tokens=8000)]
    (band,) = row(tmp_path, records, questions=[question("q0", gold=("d1",)), question("q2")]).bands
    assert band.right is not None
    assert band.right.n == 1


def judged(folder: Path) -> None:
    """A judge found the first early answer supported, the second not."""
    grader = Grader("judge", "judge", "2026-11-20T12:00:00Z", "a judge")
    marks = [Score("judge", f"{EARLY}-{n}", 1, supported=n == 0) for n in range(2)]
    replace(folder, grader, marks)


def test_faithfulness_is_by_band_where_a_judge_has_looked(tmp_path: Path) -> None:
    """B-05: one of two supported early, none known in the middle."""
    judged(tmp_path)
    early, middle = row(tmp_path, answers(EARLY, 0.05, 2, 2) + answers(MIDDLE, 0.5, 2, 2)).bands
    assert early.supported is not None
    assert (early.supported.k, early.supported.n, middle.supported) == (1, 2, None)


def test_a_grader_may_write_figures_by_band_beside_its_marks(tmp_path: Path) -> None:
    """B-22: a nested payload in a line of scores.jsonl is no error, and the mark beside it counts."""
    judged(tmp_path)
    path = tmp_path / "scores.jsonl"
    path.write_text(path.read_text().replace('"row":"score"', '"row":"score","bands":{"0-10%":{"recall":0.92}}'))
    assert path.read_text().count('"recall"') == 2
    early, _ = row(tmp_path, answers(EARLY, 0.05, 2, 2) + answers(MIDDLE, 0.5, 2, 2)).bands
    assert early.supported is not None
    assert early.supported.k == 1


def test_full_context_over_probes_has_the_depths_of_its_questions(tmp_path: Path) -> None:
    """Three probes early and three in the middle are unlike questions: not paired. One that spreads is in no band."""
    places = {"q0": (0.05,), "q1": (0.06,), "q2": (0.07,), "q3": (0.5,), "q4": (0.5,), "q5": (0.6,), "q6": (0.05, 0.5)}
    plan = {"name": "p", "arms": [{"name": "full_context", "kind": "loadrig.arms.full_context:FullContext"}]}
    records = [
        record(name, arm="full_context", question=name, answer="yes" if name < "q3" else "no") for name in places
    ]
    asked = [question(name, gold=("d1",), depths=depth) for name, depth in places.items()]
    found = row(tmp_path, records, plan=plan, questions=asked)
    assert [(band.band, band.right and band.right.n) for band in found.bands] == [("0-10", 3), ("40-60", 3)]
    (gap,) = found.gaps
    assert (gap.paired, gap.gap, gap.n) == (False, 1.0, 3)
    assert gap.p == pytest.approx(0.1)  # one of twenty ways to choose three of six, both tails


def test_an_unpaired_gap_has_newcombes_interval() -> None:
    """56/70 and 48/80 of Newcombe's table II, method 10: .2000, .0524 to .3339."""
    a = {f"a{n}": n < 56 for n in range(70)}
    b = {f"b{n}": n < 48 for n in range(80)}
    gap = gap_of(a, b, names=("0-10", "40-60"))
    assert gap is not None
    assert (gap.gap, gap.low, gap.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert (gap.n, gap.at_end, gap.in_middle) == pytest.approx((70, 0.8, 0.6))


def test_full_context_in_another_order_has_no_depths(tmp_path: Path) -> None:
    """A probe's depth is where it lies by date and id; shuffled, it lies elsewhere."""
    kind = {"name": "full_context-shuffle", "kind": "loadrig.arms.full_context:FullContext", "order": "shuffle"}
    run = read_run(
        tmp_path, [record("t", arm="full_context-shuffle", question="q0")],
        plan={"name": "p", "arms": [kind]}, questions=[question("q0", gold=("d1",), depths=(0.05,))],
    )  # fmt: skip
    assert depths(run, cells(run)) == ()


def test_a_run_without_depths_has_none(tmp_path: Path) -> None:
    """No arm that places, no probe."""
    run = read_run(tmp_path, [record("t1")])
    assert depths(run, cells(run)) == ()
