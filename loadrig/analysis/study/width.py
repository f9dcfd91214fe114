"""Wide context against narrow, question by question: whether more context helps a model or harms it, and what carries
the difference.

A question's value on either side is the mean over that side's arms of their shares of right repetitions. The difference
is over questions, and its p that of a permutation test which swaps the sides of whole questions. Where one question
carries it there is nothing to test over: Fisher's exact test is then given twice, with the repetitions pooled, as if
they were independent, and with the arm as unit; the second is the honest one, and with so few arms it is rarely small.
The question was chosen after the fact, so its pooled p counts once for every question it could have been: only what
is small then is a lead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, listed, p_told
from loadrig.statistics.clustered import Difference, Draws, mean_difference
from loadrig.statistics.groups import fisher
from loadrig.statistics.power import ALPHA
from loadrig.statistics.several import holm

Answers = Mapping[str, Sequence[bool]]  # of one question: the verdicts of its repetitions, by arm
DRAWS = Draws(permutations=4999)
APART = 0.5


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """One question that wide and narrow arms answer differently. `right_wide` of `wide` answers and `right_narrow` of
    `narrow`; `p_pooled` takes every answer for independent, `p_arms` has one verdict an arm, that of most of its
    repetitions."""

    question: str
    right_wide: int
    wide: int
    arms_wide: int
    right_narrow: int
    narrow: int
    arms_narrow: int
    repetitions: int
    p_pooled: float
    p_arms: float


@dataclass(frozen=True, slots=True)
class Split:
    """Wide - narrow over the questions of one category; `carried_by`: questions in which the two differ at all, `up` of
    them towards wide; `apart`: leads, those in which they differ by half and more and the pooled p times the number of
    questions is within 5 %. `tests`: how many of them the study has, one a run and model, which `p_holm` is over."""

    key: str
    run: str
    model: str
    category: str
    wide: tuple[str, ...]
    narrow: tuple[str, ...]
    difference: Difference
    carried_by: tuple[str, ...]
    up: int
    apart: tuple[OneQuestion, ...]
    p_holm: float = 1.0
    tests: int = 1


def adjusted(found: Sequence[Split]) -> tuple[Split, ...]:
    """All of a study's, each with its p after Holm over them."""
    ps = holm([one.difference.p for one in found])
    return tuple(replace(one, p_holm=p, tests=len(found)) for one, p in zip(found, ps, strict=True))


def one_question(question: str, wide: Answers, narrow: Answers) -> OneQuestion:
    """The two tests of one question's answers."""
    return OneQuestion(
        question=question,
        right_wide=sum(map(sum, wide.values())),
        wide=sum(map(len, wide.values())),
        arms_wide=len(wide),
        right_narrow=sum(map(sum, narrow.values())),
        narrow=sum(map(len, narrow.values())),
        arms_narrow=len(narrow),
        repetitions=max(map(len, (*wide.values(), *narrow.values()))),
        p_pooled=fisher(_each(wide), _each(narrow)),
        p_arms=fisher(_most(wide), _most(narrow)),
    )


def splits(part: Part, category: str) -> Iterator[Split]:
    """One a model; none for a run that has not arms of both kinds."""
    for model in part.models:
        wide, narrow = ({arm: part.of(arm, model, category) for arm in arms} for arms in (part.wide, part.narrow))
        questions = [
            question for question in dict.fromkeys(q for of in narrow.values() for q in of)
            if any(question in of for of in wide.values())
        ]  # fmt: skip
        if not questions:
            continue
        sides = [
            {question: {arm: of[question] for arm, of in arms.items() if question in of} for question in questions}
            for arms in (narrow, wide)
        ]
        shares = [{question: [_mean(of)] for question, of in side.items()} for side in sides]
        difference = mean_difference(shares[0], shares[1], DRAWS)
        assert difference is not None, "there are questions"
        moved = {q: shares[1][q][0] - shares[0][q][0] for q in questions if shares[0][q] != shares[1][q]}
        found = [one_question(q, sides[1][q], sides[0][q]) for q, by in moved.items() if abs(by) >= APART]
        yield Split(
            key=f"width/{part.name}/{model}/{category}",
            run=part.name,
            model=model,
            category=category,
            wide=tuple(wide),
            narrow=tuple(narrow),
            difference=difference,
            carried_by=tuple(moved),
            up=sum(by > 0 for by in moved.values()),
            apart=tuple(one for one in found if one.p_pooled * len(questions) <= ALPHA),
        )  # fmt: skip


def told(split: Split) -> Finding:
    """What the width of the context does, and how far that reaches."""
    of, where = split.difference, f"{split.run}, {split.model}, {split.category}"
    shares = (
        f"wide context ({listed(split.wide)}) is right in {100 * of.b:.1f} % and narrow ({listed(split.narrow)}) in "
        f"{100 * of.a:.1f} % of {of.n} questions, all repetitions"
    )
    if not split.carried_by:
        said = f"{where}: {shares}: no question differs by width"
        return Finding(said, (split.key,), "inside noise" if of.n > 1 else "description")
    points = f"{100 * of.value:+.1f} points{_interval(of)}, permutation p {p_told(of.p)}{_adjusted(split)}"
    ways = f"questions that differ: {split.up} towards wide, {len(split.carried_by) - split.up} towards narrow"
    if split.p_holm <= ALPHA and of.excludes_zero:
        word = "higher" if of.value > 0 else "lower"
        said = f"{where}: {shares}: {word} with wide context ({points}; {ways})"
        return Finding(said, (split.key,), "result")
    said = f"{where}: {shares}: inside noise ({points}; {ways})"
    if not split.apart:
        return Finding(said, (split.key,), "inside noise")
    carries = "One question carries it" if len(split.carried_by) == 1 else f"{len(split.apart)} questions stand out"
    said += f". {one_told(split.apart[0])}. {carries}: a lead, not a result"
    return Finding(said, (split.key,), "lead")


def one_told(one: OneQuestion) -> str:
    """Both p of one question, the honest one named, and why."""
    arms = one.arms_wide + one.arms_narrow
    return (
        f"{one.question}: {one.right_wide}/{one.wide} right in wide context against {one.right_narrow}/{one.narrow} "
        f"in narrow: Fisher's exact p is {p_told(one.p_pooled)} with the repetitions pooled and {p_told(one.p_arms)} "
        f"with the arm as unit. The second is the honest one: {one.wide + one.narrow} answers are {arms} arms x "
        f"{one.repetitions} repetitions of one question, not {one.wide + one.narrow} independent answers"
    )


def _each(arms: Answers) -> dict[str, bool]:
    return {f"{arm}/{place}": right for arm, of in arms.items() for place, right in enumerate(of)}


def _most(arms: Answers) -> dict[str, bool]:
    return {arm: 2 * sum(of) > len(of) for arm, of in arms.items()}


def _mean(arms: Answers) -> float:
    shares = [sum(of) / len(of) for of in arms.values()]
    return sum(shares) / len(shares)


def _interval(of: Difference) -> str:
    return "" if of.low is None or of.high is None else f" [{100 * of.low:+.1f}, {100 * of.high:+.1f}]"


def _adjusted(split: Split) -> str:
    return f", {p_told(split.p_holm)} after Holm over {split.tests} tests" if split.tests > 1 else ""
