"""McNemar's exact test on keyed verdicts, against published vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.statistics.paired import mcnemar


def sides(lost: int, won: int, *, both: int = 1) -> tuple[dict[str, bool], dict[str, bool]]:
    """Verdicts with so many questions right on one side only, and on both."""
    names = [*(f"l{i}" for i in range(lost)), *(f"w{i}" for i in range(won)), *(f"x{i}" for i in range(both))]
    return {name: name[0] != "w" for name in names}, {name: name[0] != "l" for name in names}


@pytest.mark.parametrize(
    ("lost", "won", "p"),
    [(1, 0, 1), (3, 0, 0.25), (5, 0, 0.0625), (6, 0, 0.03125), (7, 1, 0.0703), (8, 1, 0.0391), (10, 2, 0.0386)],
)
def test_exact_p(lost: int, won: int, p: float) -> None:
    """Two-sided, to the fourth decimal; swapping the sides changes nothing."""
    a, b = sides(lost, won)
    found, other = mcnemar(a, b), mcnemar(b, a)
    assert found is not None
    assert other is not None
    assert round(found.p, 4) == round(other.p, 4) == round(p, 4)


def test_mid_p_takes_half_of_what_was_seen() -> None:
    """5 of 5 one way: exact .0625, mid-p .03125."""
    found = mcnemar(*sides(5, 0))
    assert found is not None
    assert (found.p, found.mid_p) == (0.0625, 0.03125)


def test_the_differing_questions_are_named() -> None:
    """Right in a only is lost, in b only won; a question that one side has not is no pair."""
    found = mcnemar({"q1": True, "q2": False, "q3": True, "q9": True}, {"q1": False, "q2": True, "q3": True})
    assert found is not None
    assert (found.n, found.right_a, found.right_b, found.lost, found.won) == (3, 2, 2, ("q1",), ("q2",))


def test_no_common_question_is_no_test() -> None:
    """None, not p = 1."""
    assert mcnemar({"q1": True}, {"q2": True}) is None


@pytest.mark.parametrize("data", [[True, False], {"q1": [True, True, False]}, {"q1": 1}])
def test_repetitions_and_answers_without_a_question_are_refused(data: object) -> None:
    """Three answers to one question are one question: the caller says which verdict counts."""
    with pytest.raises(TypeError, match="independent"):
        mcnemar(data, {"q1": True})  # type: ignore[arg-type]


@given(st.integers(0, 40), st.integers(0, 40))
def test_both_are_probabilities_and_mid_p_is_never_above(lost: int, won: int) -> None:
    """Whatever differs, 0 <= mid-p <= exact p <= 1."""
    found = mcnemar(*sides(lost, won))
    assert found is not None
    assert 0 <= found.mid_p <= found.p + 1e-12 <= 1 + 2e-12
