"""Which word a difference earns, over all tests of one comparison together.

A comparison makes many tests, and of enough of them one will look like a finding by chance. Of the 5 % that all of
them may err together, accuracy over all questions has half, its categories a fifth, stale and invented answers a tenth,
and times, tokens, money, failures and recall a fifth; inside each, Holm's adjustment holds over all arms. A difference
is called higher or lower only when its adjusted p is within its part and its whole 95 % interval lies on one side of 0;
else it is inside the noise.
"""

from __future__ import annotations

from typing import Literal

from loadrig.statistics.clustered import Difference

Word = Literal["inside noise", "higher", "lower"]
Family = Literal["accuracy", "categories", "marks", "figures"]

ALPHA: dict[Family, float] = {"accuracy": 0.025, "categories": 0.01, "marks": 0.005, "figures": 0.01}


def word(difference: Difference, adjusted_p: float, family: Family) -> Word:
    """What b may be called beside a."""
    if adjusted_p > ALPHA[family] or not difference.excludes_zero:
        return "inside noise"
    return "higher" if difference.value > 0 else "lower"
