"""The output ceiling: no answer was starved of its tokens by reasoning, and none was cut off.

A starved answer looks, in a figure that reads only the answer, like a question the arm could not answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen, by_arm, named
from loadrig.analysis.selection import asked
from loadrig.words.safeguard import Figure, Safeguard

NAME = "output ceiling"


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    settings = (seen.run.manifest.get("plan") or {}).get("model") or []
    ceilings = {one.get("id"): one.get("max_tokens") for one in settings}
    for model in seen.models:
        arms = by_arm(record for record in asked(seen.run) if record.model == model)
        n = {arm: len(records) for arm, records in arms.items()}
        starved, cut = (
            {arm: sum(record.reason == reason for record in records) for arm, records in arms.items()}
            for reason in ("starved", "cut_off")
        )
        figures = (
            Figure("max_tokens", ceilings.get(model)),
            Figure("starved", sum(starved.values())),
            Figure("cut off", sum(cut.values())),
            Figure("trials", sum(n.values())),
        )
        if not n or all(record.outcome == "failed" for records in arms.values() for record in records):
            yield Safeguard(NAME, "not checked", "no trial was replied to", figures, model)
        elif any(starved.values()):
            why = f"the token limit was used up before any text ({named(starved, n)}): raise max_tokens"
            yield Safeguard(NAME, "failed", why, figures, model)
        elif any(cut.values()):
            why = f"the token limit cut answers off ({named(cut, n)}): raise max_tokens"
            yield Safeguard(NAME, "warned", why, figures, model)
        else:
            yield Safeguard(NAME, "passed", f"none of {sum(n.values())} trials reached its ceiling", figures, model)
