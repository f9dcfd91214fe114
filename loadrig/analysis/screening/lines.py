"""What a screening looked at, a line each: what was found, with its numbers, and the rule it was held against."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from loadrig.analysis.grounding import Gap
from loadrig.analysis.retrieval import ArmRecall
from loadrig.analysis.screening.answers import Answers
from loadrig.analysis.screening.rule import FEW, HOPELESS, LEAST, OF, SATURATED, SHOWN, many
from loadrig.analysis.selection import ALL
from loadrig.statistics.power import ALPHA
from loadrig.words.safeguard import Safeguard

Mark = Literal["fine", "look", "mend"]
NAMED = 10


@dataclass(frozen=True, slots=True)
class Line:
    """`mark`: fine; look: a person should; mend: a full study wants it mended first."""

    name: str
    mark: Mark
    said: str
    rule: str


def of_model(one: Answers, gaps: Sequence[Gap], recall: Sequence[ArmRecall]) -> Iterator[Line]:
    """All that is looked at model by model; `gaps` and `recall` are the model's."""
    yield _control(one)
    yield gap(gaps)
    yield _questions(one)
    yield _categories(one)
    yield from _recall(recall)
    yield _misses(one)
    yield _reread(one)


def key(unjudged: Sequence[str], asked: int) -> Line:
    """Questions that no rule can grade."""
    rule = f"questions answered that no rule and no grader could judge: at most {FEW} of {OF}"
    if not unjudged:
        return Line("key", "fine", f"every one of {asked} questions could be judged", rule)
    return Line("key", _much(len(unjudged), asked), f"{len(unjudged)} of {asked}: {_listed(unjudged)}", rule)


def instrument(checked: Sequence[Safeguard]) -> Line:
    """Safeguards that failed or warned."""
    bad = [f"{one.name} {one.verdict}" for one in checked if one.verdict in ("failed", "warned")]
    failed = any(one.verdict == "failed" for one in checked)
    blank = sum(one.verdict == "not checked" for one in checked)
    said = f"{', '.join(dict.fromkeys(bad)) or 'none failed or warned'}; {blank} of {len(checked)} not checked"
    return Line("instrument", "mend" if failed else "look" if bad else "fine", said, "no safeguard failed")


def full_plan(full: Mapping[str, Any] | None, shown: float | None, currency: str) -> Line:
    """What the plan costs without --screen, and what so many questions can show."""
    rule = f"two arms compared: {100 * SHOWN:.0f} points or less are shown four times in five, all that differ one way"
    if not full:
        return Line("full plan", "mend", "not known: the manifest has no estimate of it", rule)
    cost = "at a cost that is unknown" if full["cost"] is None else f"for about {float(full['cost']):,.4f} {currency}"
    least = "no difference" if shown is None else f"differences from {math.ceil(1000 * shown) / 10:.1f} points on"
    said = (
        f"{full['questions']} questions, {len(full['arms'])} arms, {full['trials']:,} trials, about "
        f"{full['prompt_tokens']:,} prompt and {full['output_tokens']:,} output tokens {cost}, "
        f"{full['seconds'] / 60:.0f} minutes; it can show {least}"
    )
    return Line("full plan", "fine" if shown is not None and shown <= SHOWN else "mend", said, rule)


def is_clear(gaps: Sequence[Gap]) -> bool:
    """Whether the best grounded arm is above the control, outside noise; no where nothing is known."""
    best = next((one for one in gaps if one.best), None)
    return best is not None and best.p_holm <= ALPHA and best.low is not None and best.low > 0


def gap(gaps: Sequence[Gap]) -> Line:
    """The control against the best grounded arm."""
    rule = "outside noise: McNemar's exact p after Holm at most .05, and the whole 95 % interval above 0"
    best = next((one for one in gaps if one.best), None)
    if best is None:
        return Line("gap", "mend", "not known: no control, or nothing that can be judged", rule)
    clear = is_clear(gaps)
    ends = "" if best.low is None or best.high is None else f" [{best.low:+.2f}, {best.high:+.2f}]"
    said = (
        f"{'outside' if clear else 'inside'} noise: control {best.control:.2f}, best grounded arm {best.arm} "
        f"{best.right:.2f} of {best.n} questions: {best.gap:+.2f}{ends}, p {best.p_holm:.2g}"
    )
    return Line("gap", "fine" if clear else "mend", said, rule)


def _control(one: Answers) -> Line:
    rule, n = f"a control ran, and knew at most {FEW} of {OF}", len(one.control)
    if not n:
        return Line("control", "mend", "no control ran", rule)
    if not one.known:
        return Line("control", "fine", f"it knew none of {n} questions", rule)
    said = f"it knew {len(one.known)} of {n}, which are not counted: {_listed(one.known)}"
    return Line("control", _much(len(one.known), n), said, rule)


def _questions(one: Answers) -> Line:
    rule = (
        f"all arms at {SATURATED} of {OF} or more: saturated; all at {HOPELESS} of {OF} or fewer: too hard, or the key "
        f"is wrong; fewer than {LEAST} questions show nothing"
    )
    told = ", ".join(f"{arm} {len(one.right(arm))} of {len(one.counted)}" for arm in one.arms) or "no grounded arm"
    if one.saturated():
        return Line("questions", "mend", f"saturated: {told}", rule)
    if one.hopeless:
        return Line("questions", "mend", f"too hard, or the key is wrong: {told}", rule)
    few = len(one.counted) < LEAST
    apart = f"the arms differ on {len(one.differing(one.counted))}"
    return Line("questions", "mend" if few else "look" if one.alike else "fine", f"{told}; {apart}", rule)


def _categories(one: Answers) -> Line:
    rows = list(one.categories())
    apart = [f"{row.category} ({len(row.differing)} of {row.n})" for row in rows if row.differing]
    told = {
        "saturated": [f"{row.category} ({row.n})" for row in rows if row.saturated],
        "differ between arms": apart,
        "right in no arm": [f"{row.category} ({row.n})" for row in rows if not any(row.right.values())],
    }
    said = "; ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in told.items())
    rule = f"saturated: {SATURATED} of {OF} right in every arm; differ: right in one arm and not in another"
    return Line("categories", "fine" if apart else "look", said, rule)


def _recall(arms: Sequence[ArmRecall]) -> Iterator[Line]:
    rule = "is there a class of question with recall below 1?"
    for arm in arms:
        known = {row.category: row.recall for row in arm.categories if row.recall is not None}
        short = [f"{name} {of.mean:.2f} ({of.n})" for name, of in known.items() if name != ALL and of.mean < 1]
        if known:
            said = f"below 1: {', '.join(short)}; all: {known[ALL].mean:.2f}" if short else "1 in every category"
            yield Line(f"recall of {arm.arm}", "look" if short else "fine", said, rule)


def _misses(one: Answers) -> Line:
    found = []
    for arm, of in one.arms.items():
        values = [look.values for question, look in of.items() if question in one.counted]
        missed, unread = (sum(bool(row[name]) for row in values) for name in ("retrieval_miss", "reading_miss"))
        found.append(f"{arm} retrieval {missed}, reading {unread}")
    rule = "of wrong answers: retrieval missed when a quote of the key is not in the prompt, else reading did"
    return Line("misses", "look", "; ".join(found) or "no grounded arm", rule)


def _reread(one: Answers) -> Line:
    rule = f"right in no arm although full context had the gold before the model: at most {FEW} of {OF}"
    if one.reread is None:
        return Line("to read again", "look", "not checked: full context did not run", rule)
    n = len(one.counted)
    if not one.reread:
        return Line("to read again", "fine", f"none of {n} questions", rule)
    return Line("to read again", _much(len(one.reread), n), f"{len(one.reread)} of {n}: {_listed(one.reread)}", rule)


def _much(k: int, n: int) -> Mark:
    return "mend" if many(k, n) else "look"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
