"""What each arm and model of a run answered, question by question: the material of a study's tests.

An arm is narrow when it has a `k`, the number of passages put before the model; wide when it gives the model the whole
collection or lets it search there; the control is neither. Dropped questions are left out, for a test of arms says
nothing about what the model knew beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadrig.analysis.accuracy import dropped
from loadrig.analysis.compare.accuracy import right
from loadrig.analysis.selection import ALL, CONTROL, arm_names, asked, in_order
from loadrig.analysis.summary import ArmFigures, Summary
from loadrig.log import RunFolder

Verdicts = Mapping[str, tuple[bool, ...]]


@dataclass(frozen=True, slots=True)
class Part:
    """One run of a study. `narrow`: arms with a k, by k; `wide`: the other grounded arms; both in rising order.
    `answers`: by arm and model, then by question: right or not, of every repetition in order."""

    name: str
    about: str
    run: RunFolder
    summary: Summary
    narrow: Mapping[str, int]
    wide: tuple[str, ...]
    answers: Mapping[tuple[str, str], Verdicts]

    @property
    def models(self) -> list[str]:
        """Models of which something was answered, in the plan's order."""
        plan = self.run.manifest.get("plan") or {}
        listed = [str(model.get("id")) for model in plan.get("model") or []]
        found = {model for _, model in self.answers}
        return [*(model for model in listed if model in found), *sorted(found.difference(listed))]

    @property
    def arms(self) -> tuple[str, ...]:
        """Grounded arms: the narrow ones by k, then the wide ones."""
        return (*self.narrow, *self.wide)

    def of(self, arm: str, model: str, category: str = ALL) -> Verdicts:
        """The verdicts of one category's questions; empty when there are none."""
        found = self.answers.get((arm, model), {})
        return {
            question: verdicts for question, verdicts in found.items() if category in (ALL, self.category(question))
        }

    def firsts(self, arm: str, model: str, category: str = ALL) -> dict[str, bool]:
        """The first answer to each question: the one that tests are over."""
        return {question: verdicts[0] for question, verdicts in self.of(arm, model, category).items()}

    def figures(self, arm: str, model: str) -> ArmFigures | None:
        """Those of its first stage; None when no such trial was planned."""
        return next((row for row in self.summary.arms if (row.arm, row.model) == (arm, model)), None)

    def category(self, question: str) -> str:
        """Empty for a question that is not on file."""
        found = self.run.questions.get(question)
        return found.category if found else ""

    @property
    def categories(self) -> list[str]:
        """Those of the questions asked, in the order of the question file."""
        return list(dict.fromkeys(question.category for question in self.run.questions.values()))


def part_of(run: RunFolder, summary: Summary, *, name: str, about: str = "") -> Part:
    """The run with its answers sorted out."""
    described = (run.manifest.get("plan") or {}).get("arms") or []
    ks = {str(arm["name"]): arm["k"] for arm in described if isinstance(arm.get("k"), int)}
    grounded = [arm for arm in arm_names(run) if arm != CONTROL]
    narrow = sorted((arm for arm in grounded if arm in ks), key=lambda arm: (ks[arm], arm))
    return Part(
        name, about, run, summary,
        narrow={arm: ks[arm] for arm in narrow},
        wide=tuple(arm for arm in grounded if arm not in ks),
        answers=_answers(run),
    )  # fmt: skip


def _answers(run: RunFolder) -> dict[tuple[str, str], dict[str, tuple[bool, ...]]]:
    known = {(drop.question, drop.model) for drop in dropped(run)}
    found: dict[tuple[str, str], dict[str, tuple[bool, ...]]] = {}
    for record in in_order(run, asked(run)):
        verdict = right(run, record)
        if verdict is not None and record.arm != CONTROL and (record.question, record.model) not in known:
            of = found.setdefault((record.arm, record.model), {})
            of[record.question] = (*of.get(record.question, ()), verdict)
    return found
