"""Which word an effect earns: both its adjusted p and its interval have to say so."""

from __future__ import annotations

import pytest

from loadrig.analysis.experiments.words import Effect, word, worded
from loadrig.statistics.clustered import Difference
from loadrig.statistics.power import detectable


@pytest.mark.parametrize(
    ("low", "high", "p", "said"),
    [
        (0.1, 0.5, 0.01, "higher"), (0.1, 0.5, 0.03, "inside noise"), (0.0, 0.5, 0.01, "inside noise"),
        (None, None, 0.0, "inside noise"),
    ],
)  # fmt: skip
def test_a_word_wants_p_and_interval(low: float | None, high: float | None, p: float, said: str) -> None:
    """At a level of .025; an interval that touches 0, or that the sample is too small to give, is noise."""
    assert word(Difference(20, 0.2, 0.5, 0.3, low, high, p), p, 0.025) == said


def test_an_effect_downwards_is_lower() -> None:
    """The sign is that of b - a."""
    assert word(Difference(20, 0.5, 0.2, -0.3, -0.5, -0.1, 0.01), 0.01, 0.025) == "lower"


def test_all_tests_of_a_part_answer_for_one_another() -> None:
    """Two p of .02 are .04 after Holm: no finding at .025, where one alone is; each is told what it could have seen."""
    effect = Effect(Difference(20, 0.2, 0.5, 0.3, 0.1, 0.5, 0.02))
    assert [one.word for one in worded([effect], 0.025)] == ["higher"]
    both = worded([effect, effect], 0.025, right=True)
    assert [(one.word, one.adjusted_p) for one in both] == [("inside noise", 0.04)] * 2
    assert both[0].detectable == detectable(20, alpha=0.0125)
