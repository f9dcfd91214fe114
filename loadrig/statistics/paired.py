"""McNemar's exact test: two ways to answer the same questions, each judged once.

Only questions on which the two disagree tell anything: of `lost + won` of them, each would fall on either side with
probability one half if nothing differed. The exact p is statsmodels'; mid-p counts half of the observed outcome's own
probability, as the exact test is conservative (Fagerland, Lydersen, Laake, BMC Med Res Methodol 2013, 13:91). What is
decided is decided by the exact p.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.stats import binom
from statsmodels.stats.contingency_tables import mcnemar as exact_mcnemar

from loadrig.statistics.keyed import Verdicts, one_each


@dataclass(frozen=True, slots=True)
class Paired:
    """`right_a` and `right_b` of the `n` questions judged on both sides. `lost`: right in a only; `won`: in b only.
    `p` exact and `mid_p`, two-sided."""

    n: int
    right_a: int
    right_b: int
    lost: tuple[str, ...]
    won: tuple[str, ...]
    p: float
    mid_p: float


def mcnemar(a: Verdicts, b: Verdicts) -> Paired | None:
    """Over the questions that both have; None when there is none. Raises `TypeError` unless keyed, one verdict each."""
    first, second = one_each(a), one_each(b)
    common = [question for question in first if question in second]
    if not common:
        return None
    lost = tuple(question for question in common if first[question] and not second[question])
    won = tuple(question for question in common if second[question] and not first[question])
    differing = len(lost) + len(won)
    p = float(exact_mcnemar([[0, len(lost)], [len(won), 0]], exact=True).pvalue) if differing else 1.0
    here = float(binom.pmf(len(lost), differing, 0.5)) if differing else 0.0
    below = float(binom.cdf(min(len(lost), len(won)), differing, 0.5)) if differing else 0.5
    return Paired(
        n=len(common),
        right_a=sum(first[question] for question in common),
        right_b=sum(second[question] for question in common),
        lost=lost,
        won=won,
        p=p,
        mid_p=min(1.0, 2 * below - here),
    )
