"""Which word an effect earns, over all tests of one kind of experiment together.

Three questions are asked of a run, each at 5 %: does an option matter, does accuracy rise and fall with k, does a wide
context do to one model what it does not do to another. Of the first 5 % the options' effects on accuracy have half,
their interactions a fifth, and stale answers, tokens and time the rest; inside each part Holm's adjustment holds over
every option, arm and model of the run. As between two runs, an effect is called higher or lower only when its adjusted
p is within its part and its whole 95 % interval lies on one side of 0; else it is inside the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.compare.words import Word
from loadrig.statistics.clustered import Difference, Estimate
from loadrig.statistics.power import detectable
from loadrig.statistics.several import holm

OPTIONS, INTERACTIONS, BESIDE = 0.025, 0.01, 0.015
CURVES = 0.05
CAPABILITY = 0.05


@dataclass(frozen=True, slots=True)
class Effect:
    """b - a over the `n` questions that all arms of both sides have, its p by permutation and after Holm's adjustment.

    `detectable`: of accuracy, the smallest difference of two arms that n questions show in four of five cases at the
    level tested here, all that differ going one way; None where even the largest is not shown so often, and of figures
    that are no share of right answers.
    """

    difference: Difference
    adjusted_p: float = 1.0
    word: Word = "inside noise"
    detectable: float | None = None


def word(difference: Difference | Estimate, adjusted_p: float, level: float) -> Word:
    """What b may be called beside a."""
    low, high = difference.low, difference.high
    if low is None or high is None or adjusted_p > level or low <= 0 <= high:
        return "inside noise"
    return "higher" if difference.value > 0 else "lower"


def worded(effects: Sequence[Effect], level: float, *, right: bool = False) -> list[Effect]:
    """The effects of one part with their adjusted p and their word; of shares of `right` answers also what could have
    been seen."""
    seen = level / max(1, len(effects))
    return [
        replace(
            effect,
            adjusted_p=adjusted,
            word=word(effect.difference, adjusted, level),
            detectable=detectable(effect.difference.n, alpha=seen) if right else None,
        )
        for effect, adjusted in zip(effects, holm([effect.difference.p for effect in effects]), strict=True)
    ]
