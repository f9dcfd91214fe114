"""Contamination: whether the model knew the corpus before it was shown it. It can be found, never ruled out.

Three signs, all in the control's answers, which saw no document: a question answered rightly, the corpus' canary, and
invented names that the question did not name. The last two need a ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.selection import CONTROL, asked
from loadrig.log import Invented, read_invented
from loadrig.words.record import Record
from loadrig.words.safeguard import Figure, Safeguard

NAME = "contamination"
UNPROVED = "that there is none cannot be proved"
NAMED = 5


def check(seen: Seen) -> Iterator[Safeguard]:
    """One a model."""
    invented = read_invented(seen.run.path)
    for model in seen.models:
        yield _one(seen, model, invented)


def _one(seen: Seen, model: str, invented: Invented | None) -> Safeguard:
    records = [r for r in asked(seen.run) if r.arm == CONTROL and r.model == model and r.outcome == "answered"]
    known = len({drop.question for drop in seen.dropped if drop.model == model})
    canary = invented.canary if invented else ""
    canaries = sum(canary in record.answer for record in records) if canary else 0
    names = sorted({name for record in records for name in _told(seen, record, invented)})
    figures = (
        Figure("control answers", len(records)),
        Figure("questions answered rightly", known),
        Figure("answers with the canary", canaries if invented else None),
        Figure("invented names told", len(names) if invented else None),
        Figure("invented names looked for", len(invented.names) if invented else None),
    )
    if not records:
        return Safeguard(NAME, "not checked", f"no control answered; {UNPROVED}", figures, model)
    if canaries or names:
        told = [f"{canaries} answers without documents hold the corpus' canary"] if canaries else []
        told += [f"they tell invented names: {', '.join(names[:NAMED])}"] if names else []
        return Safeguard(NAME, "failed", f"{'; '.join(told)}: the model has seen the corpus", figures, model)
    if known:
        why = f"{known} questions known or guessed without documents; {UNPROVED}"
        return Safeguard(NAME, "warned", why, figures, model)
    if invented is None:
        why = f"no right answer; canary and names were not looked for, the corpus has no ledger; {UNPROVED}"
        return Safeguard(NAME, "not checked", why, figures, model)
    looked = len(invented.names)
    why = f"no right answer, no canary, none of {looked} invented names in {len(records)} answers; {UNPROVED}"
    return Safeguard(NAME, "passed", why, figures, model)


def _told(seen: Seen, record: Record, invented: Invented | None) -> Iterator[str]:
    """Invented names in an answer whose question does not name them."""
    question = seen.run.questions.get(record.question)
    asked_for = question.question if question else ""
    for name in invented.names if invented else ():
        if name in record.answer and name not in asked_for and re.search(rf"\b{re.escape(name)}\b", record.answer):
            yield name
