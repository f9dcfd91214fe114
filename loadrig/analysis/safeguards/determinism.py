"""Answers alike to the byte across repetitions: the mark of a cache that answers in the model's place.

Some are alike by chance, short ones and refusals above all. So an arm is flagged when more than 5 % of its pairs of
neighbouring repetitions are alike and that many would come, if 5 % were, less than once in a hundred times (binomial).
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import CONTROL, grouped
from loadrig.words.safeguard import Figure, Safeguard

NAME = "determinism"
FEWEST = 2


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    rows = grouped((row.model, row) for row in seen.repeated if row.arm != CONTROL)
    for model in seen.models:
        mine = rows.get(model, [])
        pairs, same = sum(row.pairs for row in mine), sum(row.same for row in mine)
        figures = tuple(Figure(f"{row.arm}, alike of {row.pairs} pairs", row.same) for row in mine)
        if not any(row.pairs >= FEWEST for row in mine):
            why = "no question was answered often enough: repetitions = 2 and more make pairs"
            yield Safeguard(NAME, "not checked", why, figures, model)
        elif flagged := [row for row in mine if row.flagged]:
            told = ", ".join(f"{row.arm} {row.same} of {row.pairs}" for row in flagged)
            why = f"repetitions answered byte for byte the same ({told}): a cache may be answering"
            yield Safeguard(NAME, "failed", why, figures, model)
        else:
            yield Safeguard(NAME, "passed", f"{same} of {pairs} pairs of repetitions are alike", figures, model)
