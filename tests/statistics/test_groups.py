"""Fisher's exact test, Holm's adjustment and one-sided bounds, against published vectors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadrig.statistics.groups import fisher, upper_bound
from loadrig.statistics.several import holm


def group(name: str, right: int, n: int) -> dict[str, bool]:
    return {f"{name}{i}": i < right for i in range(n)}


def test_repetitions_of_one_question_are_not_fifteen_units() -> None:
    """A-100, A-101: 0/6 against 9/9 would be p = .0002 if arm and repetition were independent; by arm, 0/2 against 3/3,
    it is .10; and a list of repetitions is refused."""
    trials = fisher(group("wide", 0, 6), group("narrow", 9, 9), alternative="less")
    arms = fisher({"full": False, "agentic": False}, {"k3": True, "k5": True, "k10": True})
    assert (round(trials, 8), round(arms, 10)) == (0.00019980, 0.10)
    with pytest.raises(TypeError, match="independent"):
        fisher({"full": [False] * 3}, {"k3": [True] * 3})  # type: ignore[dict-item]


def test_the_two_sided_p_is_the_same_there() -> None:
    """A-100: 1 of C(15, 6) = 5005 tables is as extreme, either way."""
    assert fisher(group("a", 0, 6), group("b", 9, 9)) == pytest.approx(1 / 5005)


@pytest.mark.parametrize(("right", "two", "one"), [(17, 0.2308, 0.1154), (18, 0.4872, 0.2436)])
def test_three_more_of_twenty_are_no_finding(right: int, two: float, one: float) -> None:
    """A-118: 20/20 against 17/20 and 18/20."""
    a, b = group("a", right, 20), group("b", 20, 20)
    assert (round(fisher(a, b), 4), round(fisher(a, b, alternative="less"), 4)) == (two, one)


def test_the_same_unit_on_both_sides_is_refused() -> None:
    """Paired verdicts are McNemar's."""
    with pytest.raises(ValueError, match="mcnemar"):
        fisher({"q1": True}, {"q1": False})


@pytest.mark.parametrize(("n", "bound"), [(20, 0.139), (340, 0.0088)])
def test_never_seen_is_bounded(n: int, bound: float) -> None:
    """A-116: 0 of n, one-sided 95 %."""
    assert upper_bound(0, n) == pytest.approx(bound, abs=0.00051 if n == 20 else 0.000051)


def test_holm() -> None:
    """The published vector."""
    assert holm((0.0002, 0.01, 0.03, 0.04, 0.20)) == pytest.approx((0.001, 0.04, 0.09, 0.09, 0.20))
    assert holm(()) == ()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=30)
def test_holm_never_helps_and_keeps_the_order(ps: list[float]) -> None:
    """An adjusted p is at least the raw one, at most n times it, and no smaller p overtakes."""
    adjusted = holm(ps)
    assert all(raw <= found <= min(1, len(ps) * raw) + 1e-9 for raw, found in zip(ps, adjusted, strict=True))
    order = sorted(range(len(ps)), key=lambda place: ps[place])
    assert [adjusted[place] for place in order] == sorted(adjusted)
