"""How far two graders agree: raw agreement, Cohen's kappa, and how often each said yes, for one alone misleads.

Counted are distinct answers to a question, each once however many trials gave it, that both have marked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadrig.graders.scores import Graded
from loadrig.log import RunFolder
from loadrig.statistics.kappa import Kappa, alpha, cohen
from loadrig.stats import Share, wilson
from loadrig.stored import Fingerprint, fingerprint
from loadrig.words.score import Mark, Score

Answers = Mapping[tuple[str, Fingerprint], Score]  # by question and the answer's fingerprint


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two graders on one mark: `agreed` of the answers both marked, with Wilson's interval; `kappa`; and the share of
    those answers that each said yes of (prevalence)."""

    mark: Mark
    first: str
    second: str
    agreed: Share
    kappa: Kappa
    first_yes: float
    second_yes: float


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of several graders on one mark, over `n` answers that at least two marked."""

    mark: Mark
    graders: tuple[str, ...]
    n: int
    alpha: float | None


def distinct(run: RunFolder, graded: Graded) -> Answers:
    """A grader's scores by distinct answer."""
    answers = {(record.trial, record.try_no): (record.question, fingerprint(record)) for record in run.records}
    return {answers[key]: score for key, score in graded.scores.items() if key in answers}


def between(run: RunFolder, first: Graded, second: Graded, mark: Mark) -> Agreement | None:
    """The agreement of two graders; None when they have marked no answer in common."""
    ours, theirs = distinct(run, first), distinct(run, second)
    pairs = [(getattr(ours[answer], mark), getattr(theirs[answer], mark)) for answer in ours if answer in theirs]
    pairs = [pair for pair in pairs if None not in pair]
    agreed = wilson(sum(one == other for one, other in pairs), len(pairs))
    if agreed is None:
        return None
    table = [[pairs.count((one, other)) for other in (True, False)] for one in (True, False)]
    first_yes, second_yes = (sum(pair[place] for pair in pairs) / len(pairs) for place in (0, 1))
    return Agreement(mark, first.grader.name, second.grader.name, agreed, cohen(table), first_yes, second_yes)


def among(run: RunFolder, graders: Sequence[Graded], mark: Mark) -> Alpha | None:
    """Alpha of three graders or more; None of fewer, and when no answer has two marks."""
    marks = [{answer: getattr(score, mark) for answer, score in distinct(run, one).items()} for one in graders]
    answers = [
        answer
        for answer in dict.fromkeys(answer for one in marks for answer in one)
        if sum(one.get(answer) is not None for one in marks) > 1
    ]
    if len(graders) < 3 or not answers:
        return None
    found = alpha([[one.get(answer) for answer in answers] for one in marks])
    return Alpha(mark, tuple(one.grader.name for one in graders), len(answers), found)
