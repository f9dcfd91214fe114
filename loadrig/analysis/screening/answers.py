"""The first answers of one model of a screening, set side by side: which questions each arm got right.

Counted are questions that somebody could judge in some grounded arm, without those that the control knew; what an arm
did not answer is not right.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from loadrig.analysis.contexts import Looked
from loadrig.analysis.safeguards.seen import Seen
from loadrig.analysis.screening.rule import HOPELESS, OF, SATURATED
from loadrig.analysis.selection import CONTROL, arm_names, grouped
from loadrig.analysis.width import FULL_CONTEXT


@dataclass(frozen=True, slots=True)
class ScreenedCategory:
    """Of one category and model: `n` questions counted, those right by arm, and those that only some arms got right.
    `saturated`: every arm is right on 17 of 20."""

    model: str
    category: str
    n: int
    right: dict[str, int]
    differing: tuple[str, ...]
    saturated: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """One model: its answers by grounded arm and question, and the control's. `known`: what the control knew;
    `counted`: category by question; `reread`: right in no arm, though full context had the gold; None where that did
    not run."""

    model: str
    arms: Mapping[str, Mapping[str, Looked]]
    control: Mapping[str, Looked]
    known: tuple[str, ...]
    counted: Mapping[str, str]
    reread: tuple[str, ...] | None

    def right(self, arm: str) -> set[str]:
        """Counted questions that the arm got right."""
        return {question for question in self.counted if is_right(self.arms[arm].get(question))}

    def saturated(self, questions: Collection[str] | None = None) -> bool:
        """Every arm is right on at least 17 of 20 of the questions; of none, no."""
        of = set(self.counted if questions is None else questions)
        shares = [(len(self.right(arm) & of), len(of)) for arm in self.arms]
        return bool(of and shares) and all(OF * k >= SATURATED * n for k, n in shares)

    @property
    def hopeless(self) -> bool:
        """No arm is right on more than 3 of 20; of none, no."""
        shares = [(len(self.right(arm)), len(self.counted)) for arm in self.arms]
        return bool(self.counted and shares) and all(OF * k <= HOPELESS * n for k, n in shares)

    def differing(self, questions: Iterable[str]) -> tuple[str, ...]:
        """Those that some arm got right and another did not."""
        rights = [self.right(arm) for arm in self.arms]
        return tuple(one for one in questions if 0 < sum(one in of for of in rights) < len(rights))

    @property
    def alike(self) -> bool:
        """Two arms or more, and no question that tells them apart."""
        return len(self.arms) > 1 and not self.differing(self.counted)

    def categories(self) -> Iterator[ScreenedCategory]:
        """By name."""
        for name, of in sorted(grouped((category, question) for question, category in self.counted.items()).items()):
            right = {arm: len(self.right(arm) & set(of)) for arm in self.arms}
            yield ScreenedCategory(self.model, name, len(of), right, self.differing(of), self.saturated(of))


def answers(model: str, looked: Iterable[Looked], seen: Seen) -> Answers:
    """Of one model; `looked`: every answer of the run, in order."""
    first: dict[str, dict[str, Looked]] = {}
    for one in looked:
        if one.record.model == model:
            first.setdefault(one.record.arm, {}).setdefault(one.record.question, one)
    control = first.pop(CONTROL, {})
    arms = {arm: first[arm] for arm in arm_names(seen.run) if arm in first}
    known = tuple(drop.question for drop in seen.dropped if drop.model == model)
    judged = {question for of in arms.values() for question, one in of.items() if one.context.right is not None}
    counted = {question: of.category for question, of in seen.run.questions.items() if question in judged - set(known)}
    return Answers(model, arms, control, known, counted, _reread(arms, counted, _whole(seen)))


def is_right(one: Looked | None) -> bool:
    """An answer, and a right one."""
    return one is not None and one.context.right is True


def unjudged(looked: Iterable[Looked]) -> list[str]:
    """Questions that were answered, and by nobody judged."""
    found = grouped((one.record.question, one) for one in looked if one.record.outcome == "answered")
    return [question for question, of in found.items() if all(one.context.right is None for one in of)]


def _whole(seen: Seen) -> set[str]:
    plan = seen.run.manifest.get("plan") or {}
    return {str(arm["name"]) for arm in plan.get("arms") or () if arm.get("kind") == FULL_CONTEXT}


def _reread(
    arms: Mapping[str, Mapping[str, Looked]], counted: Iterable[str], whole: Collection[str]
) -> tuple[str, ...] | None:
    full = next((of for arm, of in arms.items() if arm in whole), None)
    if full is None:
        return None
    rights = {question for of in arms.values() for question, one in of.items() if is_right(one)}
    return tuple(
        question
        for question in counted
        if question in full and full[question].values["reading_miss"] and question not in rights
    )
