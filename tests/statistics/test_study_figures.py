"""The study's own arithmetic, row by row, through the functions that reports use. Intervals: tests/test_stats.py."""

from __future__ import annotations

import pytest

from loadrig.measures.recall import recall
from loadrig.statistics.clustered import mean_ratio
from loadrig.statistics.groups import upper_bound
from loadrig.statistics.line import Line, line_through
from loadrig.statistics.paired import mcnemar
from loadrig.stats import wilson

OVERHEAD_AND_CHUNKS = {3.0: 1824.0, 5.0: 2916.0}


def ratio(a: float, b: float) -> float:
    found = mean_ratio({"mean": [a]}, {"mean": [b]})
    assert found is not None
    return found.value


@pytest.mark.parametrize(
    ("a", "b", "times"),
    [
        (13_226, 18_081, 1.3671),  # two tokenizers over one context
        (11_743, 18_081, 1.5397),  # each against the local count
        (11_743, 13_226, 1.1263),
        (2916, 18_081, 6.2006),  # full context against k = 5
        (2.9, 13.4, 4.6207),  # median latency, agentic against full context
        (11_537, 11_743, 1.0179),  # headings add 206 tokens, 1.8 %
    ],
)
def test_ratios(a: float, b: float, times: float) -> None:
    """A-102, A-103, A-104, A-110, A-125, to the fourth decimal."""
    assert round(ratio(a, b), 4) == times


def test_tokens_a_passage() -> None:
    """A-105, A-106: 546 for one more, 186 with none, so 1,824 at k = 3 and 2,916 at k = 5."""
    line = line_through(OVERHEAD_AND_CHUNKS)
    assert (round(line.each), round(line.start), round(line.at(5))) == (546, 186, 2916)


def test_where_retrieval_costs_as_much_as_everything() -> None:
    """A-107: 18,081 tokens are reached at k = 32.77 of 42 passages."""
    assert round(line_through(OVERHEAD_AND_CHUNKS).reaches(18_081) or 0, 2) == 32.77
    assert Line(186, 0).reaches(18_081) is None


def test_only_one_count_fits_the_first_run() -> None:
    """A-108: 6.2 times fewer than 18,081 leaves 186 beside five passages; of 13,226 it would be less than nothing."""
    assert round(18_081 / 6.2 - 5 * 546) == 186
    assert 13_226 / 6.2 - 5 * 546 < 0


def test_larger_k() -> None:
    """A-109: 5,646 tokens at k = 10, 11,106 at k = 20."""
    line = line_through(OVERHEAD_AND_CHUNKS)
    assert [round(line.at(k)) for k in (10, 20)] == [5646, 11_106]


def test_one_point_makes_no_line() -> None:
    """A slope wants two values of k."""
    with pytest.raises(ValueError, match="two points"):
        line_through({5.0: 2916.0})


def test_never_stale_in_340_answers() -> None:
    """A-116: at least .989 are not stale, by Wilson; at most .88 % are, one-sided."""
    share = wilson(340, 340)
    assert share is not None
    assert (round(share.low, 3), round(upper_bound(0, 340), 4)) == (0.989, 0.0088)


def test_calls() -> None:
    """A-117: 7 questions, 3 repetitions, 5 arms, 2 models are 210 calls; 20 questions three times are 60 an arm."""
    assert (7 * 3 * 5 * 2, 20 * 3) == (210, 60)


def test_three_more_of_twenty_is_inside_the_noise() -> None:
    """A-118: 20/20 against 17/20 on the same questions: McNemar's exact p is .25."""
    found = mcnemar({f"q{i}": True for i in range(20)}, {f"q{i}": i < 17 for i in range(20)})
    assert found is not None
    assert (found.right_a, found.right_b, found.p) == (20, 17, 0.25)


def test_partial_answers_and_passages() -> None:
    """A-121, A-123: four of five meetings are .8; three of 42 passages are 7.1 %."""
    passages = wilson(3, 42)
    assert passages is not None
    assert (recall("abcd", "abcde"), round(passages.share, 3)) == (0.8, 0.071)


@pytest.mark.parametrize(("k", "upper"), [(0, 0.031), (1, 0.046)])
def test_determinism(k: int, upper: float) -> None:
    """A-120: 0 and 1 of 120 identical pairs; Wilson's upper ends."""
    share = wilson(k, 120)
    assert share is not None
    assert round(share.high, 3) == upper
