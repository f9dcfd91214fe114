"""What rules find in the answers of a study: stale, invented, opening against facts, where wrong answers went wrong,
and whether what they cite exists. Counts of trials, without a test: trials of one question are not independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.answers import CategoryAnswers, Figure
from loadrig.analysis.selection import ALL, CONTROL, grouped
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.finding import Finding, listed

TOLD = {
    "stale": "a superseded value is told for the current one",
    "invented": "what must not be said, or was never there, is said",
    "opening": "the answer opens against the reference and then states what the key demands",
    "trap_taken": "a trap's assumption is taken for true",
}
TRAP = "trap_taken"
CITED = (
    ("dates_fabricated", "dates_cited", "dates are fabricated"),
    ("ids_fabricated", "ids_cited", "documents or numbers do not exist"),
    ("recency_wrong", "recency_claims", "claims of the most recent document are wrong"),
)
FEW = 2  # arms that are named
CROSS = ("right_sound", "right_ill", "wrong_sound", "wrong_ill")


@dataclass(frozen=True, slots=True)
class Marked:
    """`k` of `n` trials of an arm in one category in which the rule `measure` speaks."""

    key: str
    run: str
    model: str
    arm: str
    category: str
    measure: str
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class Cited:
    """What a model cites over all grounded arms of a run: `bad` of `cited`, and in which arms."""

    key: str
    run: str
    model: str
    measure: str
    bad: int
    cited: int
    arms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cross:
    """Graded answers of a model over a run's grounded arms: right ones with sound and with ill provenance, wrong ones
    likewise."""

    key: str
    run: str
    model: str
    right_sound: int
    right_ill: int
    wrong_sound: int
    wrong_ill: int


def marked(part: Part, measure: str, category: str) -> tuple[Marked, ...]:
    """Every grounded arm and model in which the rule applies."""
    return tuple(
        Marked(f"{measure}/{part.name}/{row.model}/{row.arm}/{category}", part.name, row.model, row.arm, category,
               measure, round(figure.total), figure.n)
        for row in part.summary.behaviour.answers if row.arm != CONTROL
        if (figure := _figure(row.categories, category, measure)) is not None
    )  # fmt: skip


def told(found: Sequence[Marked]) -> Iterator[Finding]:
    """A sentence on every model of one run: how often each rule speaks, and in which arms where these are few."""
    for model in dict.fromkeys(one.model for one in found):
        rules = grouped((one.measure, one) for one in found if one.model == model)
        first = next(iter(rules.values()))[0]
        yield Finding(
            f"{first.run}, {model}, {first.category}: by rule, over the answers of all repetitions and grounded arms, "
            + "; ".join(map(_counted, rules.values())),
            tuple(one.key for of in rules.values() for one in of),
            "description",
        )


def _counted(mine: Sequence[Marked]) -> str:
    hit = [f"{one.arm} {one.k}" for one in mine if one.k]
    where = f" ({listed(hit)} only)" if 0 < len(hit) <= FEW and len(hit) < len(mine) else ""
    return f"{TOLD[mine[0].measure]} in {sum(one.k for one in mine)} of {sum(one.n for one in mine)}{where}"


def misses(part: Part) -> Iterator[Finding]:
    """Where wrong answers went wrong, by class: the search missed, or the model had it and answered wrongly."""
    for category in part.categories:
        searched, read = (marked(part, name, category) for name in ("retrieval_miss", "reading_miss"))
        wrong = sum(one.n for one in searched)
        if wrong:
            missed, misread = (sum(one.k for one in of) for of in (searched, read))
            yield Finding(
                f"{part.name}, {category}: of {wrong} wrong answers of grounded arms {missed} lacked a quote of the "
                f"key in the prompt (the search missed it, at most) and {misread} had it (the model misread it)",
                (f"{part.name}/summary.json: behaviour.answers",),
                "description",
            )


def cited(part: Part) -> Iterator[Cited]:
    """Every kind of citation that a model makes."""
    answers = [row for row in part.summary.behaviour.answers if row.arm != CONTROL]
    for model in part.models:
        for bad, of, _ in CITED:
            rows = [
                (row.arm, _figure(row.categories, ALL, bad), _figure(row.categories, ALL, of))
                for row in answers if row.model == model
            ]  # fmt: skip
            known = [(arm, b.total, c.total) for arm, b, c in rows if b is not None and c is not None]
            whole = round(sum(c for _, _, c in known))
            if whole:
                arms = tuple(arm for arm, b, _ in known if b)
                wrong = round(sum(b for _, b, _ in known))
                yield Cited(f"{bad}/{part.name}/{model}", part.name, model, bad, wrong, whole, arms)


def crossed(part: Part) -> Iterator[Cross]:
    """A model a row; none where nothing is known of dates and ids."""
    if not part.summary.behaviour.facts:
        return
    for model in part.models:
        rows = [
            of for row in part.summary.behaviour.answers if row.model == model and row.arm != CONTROL
            for of in row.categories if of.category == ALL
        ]  # fmt: skip
        yield Cross(
            f"cross/{part.name}/{model}", part.name, model,
            *(sum(getattr(of, name) for of in rows) for name in CROSS),
        )  # fmt: skip


def cited_told(found: Sequence[Cited]) -> Iterator[Finding]:
    """A sentence a run and model."""
    names = {bad: said for bad, _, said in CITED}
    for run, model in dict.fromkeys((one.run, one.model) for one in found):
        mine = [one for one in found if (one.run, one.model) == (run, model)]
        said = "; ".join(f"{one.bad} of {one.cited} {names[one.measure]} ({one.bad / one.cited:.0%})" for one in mine)
        yield Finding(f"{run}, {model}: {said}; all repetitions", tuple(one.key for one in mine), "description")


def crossed_told(found: Sequence[Cross]) -> Iterator[Finding]:
    """What of ill provenance comes with a right answer: a grade of the answer alone does not see it."""
    for one in found:
        ill, right = one.right_ill + one.wrong_ill, one.right_sound + one.right_ill
        if ill:
            yield Finding(
                f"{one.run}, {one.model}: {one.right_ill} of {ill} answers whose provenance fails are right in what "
                f"they claim ({right} are right in all): a grade of the claim alone misses them",
                (one.key,),
                "description",
            )


def saturated(part: Part, *, share: float, least: int = 1) -> Iterator[Finding]:
    """Classes in which every grounded arm and model is right on at least that share: they tell nothing apart."""
    named: list[str] = []
    for category in part.categories:
        firsts = [part.firsts(arm, model, category) for arm in part.arms for model in part.models]
        known = [of for of in firsts if len(of) >= least]
        if known and all(sum(of.values()) >= share * len(of) for of in known):
            named.append(f"{category} (n = {max(map(len, known))})")
    whole = len(part.categories)
    if named:
        yield Finding(
            f"{part.name}: {len(named)} of {whole} classes are saturated, every grounded arm of every model right "
            f"on at least {share:.0%}: {listed(named, 8)}. The questions are easy, which does not make the arms alike",
            (f"{part.name}/summary.json: accuracy",),
            "description",
        )


def _figure(categories: Sequence[CategoryAnswers], category: str, measure: str) -> Figure | None:
    row = next((of for of in categories if of.category == category), None)
    return None if row is None else next((one for one in row.figures if one.measure == measure), None)
