"""Empty and refused answers stand apart: neither is a wrong answer, and an arm that has more of them is told.

Their share by arm is given, because it may grow with the context; whether it does, the comparison of arms says.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen, by_arm, named
from loadrig.analysis.selection import asked
from loadrig.words.safeguard import Figure, Safeguard

NAME = "empty and refused answers"


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    for model in seen.models:
        arms = by_arm(r for r in asked(seen.run) if r.model == model and r.outcome != "failed")
        n = {arm: len(records) for arm, records in arms.items()}
        found = {
            reason: {arm: sum(record.reason == reason for record in records) for arm, records in arms.items()}
            for reason in ("empty", "refused")
        }
        figures = tuple(
            Figure(f"{arm}, {reason} of {n[arm]}", count)
            for reason, of in found.items() for arm, count in of.items() if count
        )  # fmt: skip
        told = [f"{reason}: {named(of, n)}" for reason, of in found.items() if any(of.values())]
        if not n:
            yield Safeguard(NAME, "not checked", "no trial was replied to", figures, model)
        elif told:
            yield Safeguard(NAME, "warned", f"{'; '.join(told)}; not taken for wrong answers", figures, model)
        else:
            yield Safeguard(NAME, "passed", f"none among {sum(n.values())} trials", figures, model)
