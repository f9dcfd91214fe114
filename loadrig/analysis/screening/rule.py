"""Whether a full study pays, by a fixed rule over what a screening found. Pure; every limit of a screening stands here.

The first that holds: what makes every figure doubtful is mended first (control, instrument, too few questions); then
what no repair changes (every arm right, no arm right, nothing that differs); then what a full study would stumble over;
else it pays. Shares are compared exactly: 17 of 20 is 85 % of any number of questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from loadrig.statistics.power import fewest_one_way

Verdict = Literal["pays", "does not pay yet", "pays only after"]

SATURATED, HOPELESS, FEW, OF = 17, 3, 3, 20  # right in every arm; right in no arm; told, and not yet in the way: of 20
SHOWN = 0.2  # a full plan that cannot show so large a difference has too few questions
LEAST = fewest_one_way()  # below so many questions no test can find anything

REASONS = {
    "control": "a control has run: without it nobody can tell grounding from memory",
    "instrument": "no safeguard fails any more",
    "few": f"at least {LEAST} questions can be judged",
    "saturated": f"every arm is right on {SATURATED} of {OF} or more: the corpus is easy, harder questions are needed",
    "hopeless": f"key and questions have been read again: no arm is right on more than {HOPELESS} of {OF}",
    "alike": "no question tells the arms apart and retrieval misses nothing: other questions are needed",
    "known": f"the questions that the control knew are replaced: more than {FEW} of {OF}",
    "gap": "the questions show that documents matter: the gap to the control is inside noise",
    "keyless": f"questions that nobody could judge have a key or a grader: more than {FEW} of {OF}",
    "reread": f"a person has read what no arm got right with the gold in view: more than {FEW} of {OF}",
    "blind": f"more questions are written: the full plan cannot show a difference of {100 * SHOWN:.0f} points",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the verdict is made of: troubles, by their names in `REASONS`. Over several models `saturated`, `hopeless`
    and `alike` hold when they hold for all of them, the others when they hold for one."""

    control: bool = False
    instrument: bool = False
    few: bool = False
    saturated: bool = False
    hopeless: bool = False
    alike: bool = False
    known: bool = False
    gap: bool = False
    keyless: bool = False
    reread: bool = False
    blind: bool = False


def verdict(facts: Facts) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict, and the names of its reasons."""
    if broken := _true(facts, "control", "instrument", "few"):
        return "pays only after", (*broken, *_true(facts, "keyless", "blind"))
    if facts.saturated:
        return "does not pay yet", ("saturated",)
    if facts.hopeless:
        return "pays only after", ("hopeless", *_true(facts, "keyless"))
    if facts.alike:
        return "does not pay yet", ("alike",)
    if later := _true(facts, "known", "gap", "keyless", "reread", "blind"):
        return "pays only after", later
    return "pays", ()


def sentence(found: Verdict, reasons: Iterable[str]) -> str:
    """The verdict in one sentence."""
    told = "; ".join(REASONS[name] for name in reasons)
    return f"A full study {found}: {told}." if told else f"A full study {found}."


def many(k: int, n: int) -> bool:
    """More than 3 of 20."""
    return OF * k > FEW * n


def _true(facts: Facts, *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if getattr(facts, name))
