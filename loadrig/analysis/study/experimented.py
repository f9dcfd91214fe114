"""What the experiments inside a study's runs say: effects of options, accuracy over k, models of unlike capability."""

from __future__ import annotations

from collections.abc import Iterator

from loadrig.analysis.experiments.curves import Curve
from loadrig.analysis.experiments.factors import Factor
from loadrig.analysis.experiments.words import Effect
from loadrig.analysis.selection import ALL, grouped
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, Strength, listed, p_told, points

FIGURES = {
    "accuracy": "right answers",
    "stale": "stale answers",
    "tokens_in": "prompt tokens",
    "service": "service time",
}


def options_told(part: Part) -> Iterator[Finding]:
    """Every option that the run's arms differ in, and whether its sentence alone was changed."""
    found = part.summary.experiments
    for one in found.factors:
        key = f"{part.name}/summary.json: experiments.factors"
        yield Finding(f"{part.name}, {one.model}: {_factor(one)}", (key,), _strength(one.accuracy))
    for interaction in found.interactions:
        if interaction.accuracy.word != "inside noise":
            yield Finding(
                f"{part.name}, {interaction.model}: what {interaction.option} does to {interaction.kind} is "
                f"{interaction.accuracy.word} where {interaction.other} is {interaction.other_b} "
                f"({_effect(interaction.accuracy, 'accuracy')})",
                (f"{part.name}/summary.json: experiments.interactions",),
                "result",
            )
    unproved = [one for one in found.ablations if not one.proved]
    proved = len(found.ablations) - len(unproved)
    if found.ablations:
        sentences = {one.sentence for one in found.ablations if one.sentence}
        said = f"{part.name}: in {proved} of {len(found.ablations)} pairs of arms one sentence alone was taken out, by "
        said += f"the bytes that were sent ({listed([f'{len(one.split())} words' for one in sorted(sentences)])})"
        if unproved:
            said += f"; not so in {listed([f'{one.arm} / {one.without}' for one in unproved])}"
        yield Finding(said, (f"{part.name}/summary.json: experiments.ablations",), "description")


def curves_told(part: Part) -> Iterator[Finding]:
    """Whether accuracy rises with k at first and falls in the end."""
    for one in part.summary.experiments.curves:
        key = f"{part.name}/summary.json: experiments.curves"
        yield Finding(f"{part.name}, {one.model}: {_curve(one)}", (key,), "result" if one.found else "inside noise")


def capability_told(part: Part) -> Iterator[Finding]:
    """What wide context does to each model, and where that changes; nothing of a run with one model."""
    single = len(part.categories) < 2  # then all questions are that class
    several = [
        one for one in part.summary.experiments.capability
        if len(one.models) > 1 and not (single and one.category == ALL)
    ]  # fmt: skip
    for one in several:
        for threshold in one.thresholds:
            yield Finding(
                f"{part.name}, {one.category}: what {one.wide} does beside {one.narrow} changes between "
                f"{threshold.below} and {threshold.above} (its {threshold.by}; the change itself is "
                f"{threshold.change.word}, {_effect(threshold.change, 'accuracy')})",
                (f"{part.name}/summary.json: experiments.capability",),
                "result" if threshold.change.word != "inside noise" else "inside noise",
            )
    quiet = [one for one in several if not one.thresholds]
    for category, of in grouped((one.category, one) for one in quiet).items():
        models = [gap.model for gap in of[0].models]
        yield Finding(
            f"{part.name}, {category}: no threshold is seen between {listed(models)} for "
            f"{listed([one.wide for one in of])} beside {of[0].narrow}, over {of[0].models[0].n} questions",
            (f"{part.name}/summary.json: experiments.capability",),
            "inside noise",
        )


def _factor(one: Factor) -> str:
    said = [
        f"{FIGURES[name]} {_effect(effect, name)}: {effect.word}"
        for name in FIGURES if (effect := getattr(one, name)) is not None
    ]  # fmt: skip
    pairs = "1 pair" if len(one.arms) == 1 else f"{len(one.arms)} pairs"
    return f"{one.option} {one.a} -> {one.b} in {one.kind} ({pairs} of arms): {'; '.join(said)}{_unseen(one.accuracy)}"


def _effect(effect: Effect, name: str) -> str:
    of = effect.difference
    if name in ("accuracy", "stale"):
        numbers = f"{100 * of.a:.1f} % to {100 * of.b:.1f} %"
    elif name == "service":
        numbers = f"{of.a / 1e9:.2f} to {of.b / 1e9:.2f} s"
    else:
        numbers = f"{of.a:,.0f} to {of.b:,.0f}"
    return f"{numbers}, n = {of.n}, Holm p {p_told(effect.adjusted_p)}"


def _unseen(effect: Effect | None) -> str:
    if effect is None or effect.word != "inside noise":
        return ""
    if effect.detectable is None:
        return ". With so few questions no difference in right answers could have been seen reliably"
    return f". A difference in right answers below {points(effect.detectable)} could not have been seen"


def _curve(one: Curve) -> str:
    right = ", ".join(f"{point.right}/{one.n} at k = {point.k}" for point in one.points)
    if one.found:
        return (
            f"right answers of {one.kind} rise and fall with k, the most at k = {one.best}: {right} "
            f"(Holm p {p_told(one.adjusted_p)})"
        )
    seen = (
        "no fall could have been seen reliably"
        if one.detectable is None
        else f"a fall below {points(one.detectable)} could not have been seen"
    )
    return f"no inverted U of right answers over k is found in {one.kind}: {right}; {seen}"


def _strength(effect: Effect | None) -> Strength:
    if effect is None:
        return "description"
    return "inside noise" if effect.word == "inside noise" else "result"
