"""Whether a judge likes one arm's manner better than a person does: kinder or harsher than the sheet, arm by arm.

Agreement over all answers does not show it: a judge that calls every wrong answer of one arm right agrees with the
sheet on nine answers of ten, and decides the comparison of arms. Of each arm the first asked answers, where both have
marked them, are paired by question; McNemar's exact test asks whether the two differ in one direction, and Holm's
adjustment holds over the arms.
"""

from __future__ import annotations

from dataclasses import dataclass

from loadrig.analysis.selection import arm_names, grouped
from loadrig.graders.blind import chosen
from loadrig.graders.scores import Graded
from loadrig.log import RunFolder
from loadrig.statistics.paired import mcnemar
from loadrig.statistics.several import holm

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Leaning:
    """One arm and model: of `n` questions the judge alone called `kinder` right, the sheet alone `harsher`. `p` is
    adjusted; `leans`: it is at most .05."""

    arm: str
    model: str
    n: int
    kinder: int
    harsher: int
    p: float
    leans: bool


def leanings(run: RunFolder, judge: Graded, sheet: Graded) -> tuple[Leaning, ...]:
    """Of every arm and model with an answer that both have marked, in the plan's order."""
    order = {arm: place for place, arm in enumerate(arm_names(run))}
    pairs = []
    for record in chosen(run, all_repetitions=False):
        key = (record.trial, record.try_no)
        said, right = judge.scores.get(key), sheet.scores.get(key)
        if said is not None and right is not None and said.correct is not None and right.correct is not None:
            pairs.append(((record.arm, record.model), (record.question, right.correct, said.correct)))
    found = []
    for (arm, model), marks in sorted(grouped(pairs).items(), key=lambda group: order[group[0][0]]):
        by_sheet = {question: right for question, right, _ in marks}
        by_judge = {question: said for question, _, said in marks}
        if (test := mcnemar(by_sheet, by_judge)) is not None:
            found.append((arm, model, test))
    adjusted = holm([test.p for _, _, test in found])
    return tuple(
        Leaning(arm, model, test.n, len(test.won), len(test.lost), p, p <= ALPHA)
        for (arm, model, test), p in zip(found, adjusted, strict=True)
    )
