"""The frontier of cost and accuracy: who dominates whom, by hand, and which arms have no place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import question, read_run, record, turn

from loadrig.analysis.accuracy import accuracy_by_arm
from loadrig.analysis.frontier import Frontier, Point, dominators, frontier
from loadrig.words.record import Record, Usage

USED = Usage(input=10, output=10)
points = st.builds(Point, st.sampled_from([1.0, 2.0, 3.0]), st.sampled_from([0.2, 0.5, 0.9]))


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ([], []),
        ([(1, 0.5)], [None]),
        ([(1, 0.5), (2, 0.9)], [None, None]),
        ([(1, 0.5), (2, 0.5)], [None, 0]),
        ([(1, 0.5), (1, 0.4)], [None, 0]),
        ([(1, 0.5), (1, 0.5)], [None, None]),
        ([(3, 0.4), (1, 0.5), (2, 0.6)], [1, None, None]),
    ],
)
def test_what_costs_no_less_and_is_right_no_more_is_dominated(
    of: list[tuple[float, float]], expected: list[int | None]
) -> None:
    """By the cheapest that does; two of the same place do not dominate one another."""
    assert dominators([Point(cost, right) for cost, right in of]) == expected


@given(st.lists(points, max_size=8))
def test_what_is_on_the_frontier_is_dominated_by_none_and_the_rest_by_one_that_is(of: list[Point]) -> None:
    """Something dominates each of the rest, and is not itself dominated."""
    found = dominators(of)
    for point, by in zip(of, found, strict=True):
        better = [one for one in of if one != point and one.cost <= point.cost and one.right >= point.right]
        assert (by is None) is (not better)
        if by is not None:
            assert found[by] is None


def asked(arm: str, costs: list[str | None], right: int, **given: object) -> list[Record]:
    """One trial for each of questions q0, q1, ...; the first `right` are."""
    return [
        record(f"{arm}{at}", arm=arm, question=f"q{at}", answer="yes" if at < right else "no", cost=cost,
               turns=(turn(cost, usage=USED),), **given)
        for at, cost in enumerate(costs)
    ]  # fmt: skip


def placed(folder: Path, records: list[Record], **given: object) -> Frontier:
    run = read_run(folder, records, **given)
    return frontier(run, accuracy_by_arm(run))


def test_an_arm_stands_at_its_mean_cost_and_its_share_right(tmp_path: Path) -> None:
    """0.01, 0.02 and 0.06 are 0.03 a question; two of three right; the interval has the mean in it."""
    found = placed(tmp_path, asked("rag", ["0.01", "0.02", "0.06"], 2)).placed[0]
    assert (found.cost, found.asked, found.questions) == (0.03, 3, 3)
    assert (found.right.k, found.right.n, found.dominated_by) == (2, 3, None)
    assert found.low is not None
    assert found.high is not None
    assert 0.01 <= found.low < 0.03 < found.high <= 0.06


def test_the_dearer_of_two_that_are_as_right_is_named_with_who_dominates_it(tmp_path: Path) -> None:
    """Both are right on one of two questions; one costs 0.01 a question and the other 0.02."""
    records = [*asked("full", ["0.02", "0.02"], 1), *asked("rag", ["0.01", "0.01"], 1)]
    assert {one.arm: one.dominated_by for one in placed(tmp_path, records).placed} == {"full": "rag", "rag": None}


def test_without_a_price_or_a_grade_there_is_no_place(tmp_path: Path) -> None:
    """Listed with the reason: a charge that is unknown, a question without a key, the control."""
    records = [*asked("rag", ["0.01", None], 1), *asked("control", ["0.01", "0.01"], 0)]
    found = placed(tmp_path / "a", records)
    assert found.placed == ()
    assert {one.arm: one.why.split(":")[0] for one in found.unplaced} == {
        "control": "the control", "rag": "its cost is not known",
    }  # fmt: skip
    keyless = placed(tmp_path / "b", asked("rag", ["0.01"], 1), questions=[question("q0", must_contain=())])
    assert keyless.unplaced[0].why == "nobody can grade its answers"


def test_a_reply_that_broke_off_makes_the_cost_a_lower_bound(tmp_path: Path) -> None:
    """It keeps its place, marked; what it dominates it does not dominate for certain."""
    part = Usage(input=10, output=1, exact=False)
    broken = record("b", arm="cut", question="q0", cost="0.01", turns=(turn("0.01", usage=part),))
    cut, dear = placed(tmp_path, [broken, *asked("rag", ["0.02"], 1)]).placed
    assert (cut.at_least, cut.dominated_by) == (True, None)
    assert (dear.at_least, dear.dominated_by, dear.certain) == (False, "cut", False)
