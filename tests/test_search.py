"""The search for the highest load, against targets whose answer is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.objectives import Verdict
from loadrig.search import Bounds, Bracket, Tried, bracket, doublings, next_load

WHOLE = Bounds(first=1, ceiling=128, whole=True, stages=30)


def searched(
    judge: Callable[[float], Verdict], bounds: Bounds = WHOLE, saturated_from: float = math.inf
) -> list[Tried]:
    tried: list[Tried] = []
    while (load := next_load(tried, bounds)) is not None:
        tried.append(Tried(load, judge(load), load >= saturated_from))
    return tried


def up_to(highest: float, undecided_to: float = 0) -> Callable[[float], Verdict]:
    """Loads up to `highest` are kept, those up to `undecided_to` cannot be told, all others are broken."""
    return lambda load: "kept" if load <= highest else "undecided" if load <= undecided_to else "broken"


def test_it_doubles_and_then_bisects() -> None:
    """The answer is 11: 1, 2, 4, 8, 16, then the middles 12, 10, 11."""
    tried = searched(up_to(11))
    assert [one.load for one in tried] == [1, 2, 4, 8, 16, 12, 10, 11]
    assert bracket(tried) == Bracket(kept=11, not_kept=12, broken=True)


@given(st.integers(1, 127), st.integers(1, 128))
def test_the_answer_lies_in_the_bracket_wherever_it_begins(highest: int, first: int) -> None:
    """For every answer and first load: kept <= answer < not kept, a tenth or 1 apart, in at most 13 stages."""
    tried = searched(up_to(highest), Bounds(first, 128, whole=True, stages=30))
    found = bracket(tried)
    assert found.kept is not None
    assert found.not_kept is not None
    assert found.kept <= highest < found.not_kept
    assert found.not_kept - found.kept <= max(1, 0.1 * found.kept)
    assert len(tried) <= 13
    assert len({one.load for one in tried}) == len(tried)


@given(st.floats(0.02, 60), st.floats(0.5, 2))
def test_rates_are_bisected_on_a_log_scale(highest: float, first: float) -> None:
    """Rates are no whole numbers: the bracket's ends are within a tenth of one another."""
    found = bracket(searched(up_to(highest), Bounds(first, 64 * first, whole=False, stages=30)))
    if found.kept is not None and found.not_kept is not None:
        assert found.kept <= highest < found.not_kept <= 1.1 * found.kept
    else:
        assert highest < first / 32 or highest >= 32 * first


@given(st.integers(1, 60), st.integers(0, 60))
def test_an_undecided_load_is_neither_kept_nor_broken(highest: int, more: int) -> None:
    """The bracket closes on the highest load that is clearly kept, and says whether the next is clearly broken."""
    found = bracket(searched(up_to(highest, highest + more)))
    assert found.kept is not None
    assert found.not_kept is not None
    assert found.kept <= highest < found.not_kept
    assert found.broken == (found.not_kept > highest + more)


def test_too_few_trials_at_a_low_load_do_not_end_it() -> None:
    """Nothing is decided at 1 and 2, 4 is kept: so are they, and the search goes on from 4."""
    verdicts: dict[float, Verdict] = {1: "undecided", 2: "undecided", 4: "kept", 8: "broken", 6: "kept", 7: "broken"}
    tried = searched(verdicts.__getitem__)
    assert [one.load for one in tried] == [1, 2, 4, 8, 6, 7]
    assert bracket(tried) == Bracket(kept=6, not_kept=7, broken=True)


def test_it_does_not_climb_beyond_saturation_the_ceiling_or_its_stages() -> None:
    """Kept everywhere: it ends at a saturated load, at the ceiling, after so many stages; repeats count."""
    assert [one.load for one in searched(up_to(999), saturated_from=8)] == [1, 2, 4, 8]
    assert [one.load for one in searched(up_to(999), Bounds(1, 6, whole=True))] == [1, 2, 4, 6]
    assert len(searched(up_to(11), Bounds(1, 128, whole=True, stages=6))) == 6
    assert next_load([Tried(1, "undecided", stages=2)], Bounds(1, 8, whole=True, stages=2)) is None


def test_a_first_load_that_is_broken_leads_down() -> None:
    """From 8 by halves until one is kept; when 1 itself is broken nothing is kept."""
    assert [one.load for one in searched(up_to(3), Bounds(8, 64, whole=True))] == [8, 4, 2, 3]
    nothing = searched(up_to(0), Bounds(8, 64, whole=True))
    assert [one.load for one in nothing] == [8, 4, 2, 1]
    assert bracket(nothing) == Bracket(kept=None, not_kept=1, broken=True)


@pytest.mark.parametrize(("bounds", "loads"), [(Bounds(1, 8, whole=True), (1, 2, 4, 8)),
                                               (Bounds(3, 10, whole=True), (3, 6, 10)),
                                               (Bounds(1, 128, whole=True, stages=3), (1, 2, 4))])  # fmt: skip
def test_the_way_up_is_known_beforehand(bounds: Bounds, loads: tuple[float, ...]) -> None:
    """What the estimate of a search is made of."""
    assert doublings(bounds) == loads
