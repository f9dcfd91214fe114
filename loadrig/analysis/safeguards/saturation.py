"""Saturation: on at least 20 questions of which every arm is right on 17 of 20, arms cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import CONTROL, grouped
from loadrig.words.safeguard import Figure, Safeguard

NAME = "saturation"
SATURATED, LEAST = 17 / 20, 20


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    arms = grouped((row.model, row) for row in seen.accuracy if row.arm != CONTROL)
    for model in seen.models:
        shares = {row.arm: row.categories[0].of_asked for row in arms.get(model, [])}
        known = {arm: share for arm, share in shares.items() if share is not None}
        figures = tuple(Figure(f"{arm}, right of {share.n}", share.k) for arm, share in known.items())
        told = ", ".join(f"{arm} {share.k} of {share.n}" for arm, share in known.items())
        if not known or min(share.n for share in known.values()) < LEAST or len(known) < len(shares):
            why = f"fewer than {LEAST} questions were graded in every arm"
            yield Safeguard(NAME, "not checked", why, figures, model)
        elif all(share.share >= SATURATED for share in known.values()):
            why = (
                f"every arm is right on at least {SATURATED:.0%} of the questions ({told}): they do not tell arms apart"
            )
            yield Safeguard(NAME, "warned", why, figures, model)
        else:
            yield Safeguard(NAME, "passed", f"not every arm is right on {SATURATED:.0%} ({told})", figures, model)
