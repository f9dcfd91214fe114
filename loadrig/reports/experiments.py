"""Tables of the experiments inside a run: effects of options, proofs of ablations, accuracy over k, models compared.

A difference is given with its interval and its word, and with what this many questions could have shown. A table of
which the run has nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loadrig.analysis.experiments.ablation import Ablation
from loadrig.analysis.experiments.curves import Curve
from loadrig.analysis.experiments.factors import Factor
from loadrig.analysis.experiments.words import Effect
from loadrig.analysis.selection import grouped
from loadrig.analysis.summary import Summary
from loadrig.reports.speed import models_of
from loadrig.reports.table import NONE, Table, label, number, one_line
from loadrig.statistics.clustered import Difference, Estimate
from loadrig.statistics.paired import Paired

UNITS: Mapping[str, tuple[str, float, str]] = {
    "accuracy": ("points", 100, "+.1f"),
    "stale": ("points", 100, "+.1f"),
    "tokens_in": ("tokens", 1, "+,.0f"),
    "service": ("s", 1e-9, "+.3f"),
}
TOLD = {"accuracy": "right", "stale": "stale", "tokens_in": "prompt tokens", "service": "service"}
PROVED = {True: "proved", False: "not proved", None: "not checked"}
_SENTENCE = 90


def tables(summary: Summary) -> Iterator[Table]:
    """Every table of this section that has something to tell, in order."""
    found = (
        _factors(summary), _interactions(summary), _ablations(summary), _curves(summary), _capability(summary),
        _thresholds(summary),
    )  # fmt: skip
    yield from (table for table in found if table is not None)


def _factors(summary: Summary) -> Table | None:
    rows = tuple(
        (f"{_option(summary, one)}, {TOLD[name]}", *_cells(effect, name), str(len(one.arms)))
        for one in summary.experiments.factors
        for name in UNITS
        if (effect := getattr(one, name)) is not None
    )
    headers = ("option, figure", "questions", "a", "b", "b - a", "95 % interval", "p (Holm)", "is", "seen", "pairs")
    notes = (
        "of a kind of arm, from a to b: mean over the pairs of arms that differ in this option alone, by question; "
        "right: first answers; the others: means over repetitions, one cluster each; service: trials that succeeded",
        "interval: bootstrap over questions; p: permutation; Holm over the options of the run; seen: the smallest "
        "difference of two arms that so many questions show in four of five cases, all that differ going one way",
        "inside noise is not that nothing is there: below seen nobody looked closely enough",
    )
    return Table("What an option does", headers, rows, notes) if rows else None


def _interactions(summary: Summary) -> Table | None:
    rows = tuple(
        (
            f"{_named(summary, one.kind, one.model)}: {one.option} {_step(one.a, one.b)} by {one.other} "
            f"{_step(one.other_a, one.other_b)}",
            *_cells(one.accuracy, "accuracy", signed=True),
        )
        for one in summary.experiments.interactions
    )
    headers = ("options", "questions", "at a", "at b", "b - a", "95 % interval", "p (Holm)", "is", "seen")
    notes = (
        "the first option's effect on right answers where the other one is at its a and at its b, in points, and the "
        "difference of the two; paired by question, first answers",
    )
    return Table("Does one option hang on another", headers, rows, notes) if rows else None


def _ablations(summary: Summary) -> Table | None:
    found = summary.experiments.ablations
    alike = grouped(((one.model, one.option, one.proved, one.sentence, one.difference), one) for one in found)
    rows = tuple(
        (
            _pairs(summary, of), of[0].option, PROVED[of[0].proved], str(sum(one.n for one in of)),
            one_line(of[0].sentence, _SENTENCE) if of[0].sentence else NONE,
            one_line(of[0].difference or "", _SENTENCE),
        )
        for of in alike.values()
    )  # fmt: skip
    headers = ("arms", "option", "one sentence less,\nelse the same bytes", "prompts", "sentence", "first difference")
    notes = ("by the requests as they were sent, first turns; later ones of an agent hang on what its model did",)
    return Table("Proof of the ablations", headers, rows, notes) if rows else None


def _pairs(summary: Summary, of: Sequence[Ablation]) -> str:
    """The first pair of arms, and how many more there are; summary.json names them all."""
    more = f" and {len(of) - 1} more" if len(of) > 1 else ""
    return f"{_named(summary, of[0].arm, of[0].model)} / {of[0].without}{more}"


def _curves(summary: Summary) -> Table | None:
    rows = tuple(
        (
            _named(summary, one.kind, one.model), ", ".join(f"{point.k}: {point.right}" for point in one.points),
            str(one.n), str(one.best), _pair(one.rise), _pair(one.fall), _interval(one.change, 100, "+.1f"),
            f"{one.adjusted_p:.4f}", _verdict(one), _seen(one.detectable),
        )
        for one in summary.experiments.curves
    )  # fmt: skip
    headers = (
        "arms", "right by k", "questions", "best k", "smallest k to\nbest: won, lost", "best to largest\nk: won, lost",
        "fall, 95 %\ninterval", "p (Holm)", "inverted U", "seen",
    )  # fmt: skip
    notes = (
        "looked for: the best k is neither end, and the fall from it to the largest k is beyond noise; McNemar's "
        "exact, times the ks that the best one was chosen of, Holm over the families",
    )
    return Table("Accuracy over k: is there an inverted U", headers, rows, notes) if rows else None


def _verdict(one: Curve) -> str:
    return "found" if one.found else "looked for, not found"


def _capability(summary: Summary) -> Table | None:
    rows = tuple(
        (
            f"{one.wide} - {one.narrow}, {one.category}", gap.model, str(gap.n), f"{gap.narrow:.2f}", f"{gap.wide:.2f}",
            f"{100 * gap.gap.value:+.1f}", _interval(gap.gap, 100, "+.1f"), f"{gap.adjusted_p:.4f}", gap.word,
            _seen(gap.detectable),
        )
        for one in summary.experiments.capability
        for gap in one.models
    )  # fmt: skip
    headers = (
        "wide - narrow, category", "model", "questions", "narrow", "wide", "points", "95 % interval", "p (Holm)", "is",
        "seen",
    )  # fmt: skip
    notes = (
        "models by their narrow accuracy, the weakest first; first answers, paired by question; p: McNemar's exact; "
        "token counts of two models are never compared",
    )
    return Table("Wide against narrow context, by model", headers, rows, notes) if rows else None


def _thresholds(summary: Summary) -> Table | None:
    several = [one for one in summary.experiments.capability if len(one.models) > 1]
    rows: list[tuple[str, ...]] = []
    for one in several:
        name = f"{one.wide} - {one.narrow}, {one.category}"
        rows += [
            (name, f"{found.below} to {found.above}", found.by, *_cells(found.change, "accuracy", signed=True)[3:-1])
            for found in one.thresholds
        ] or [(name, "none seen", *(NONE,) * 5)]
    headers = (
        "wide - narrow, category", "between", "what changes", "points", "95 % interval", "p (Holm)", "the change is",
    )  # fmt: skip
    notes = (
        "neighbours whose finding, or without one whose sign, is not the same; a finding beside none is not yet a "
        "difference of the two models: the last columns test that",
    )
    return Table("Threshold between models", headers, tuple(rows), notes) if rows else None


def _cells(effect: Effect, name: str, *, signed: bool = False) -> tuple[str, ...]:
    """Questions, a, b, b - a, interval, p, word, and what could have been seen; `signed`: a and b are differences."""
    unit, scale, sign = UNITS[name]
    plain = sign if signed else sign.removeprefix("+")
    of: Difference = effect.difference
    return (
        str(of.n), f"{scale * of.a:{plain}}", f"{scale * of.b:{plain}}", f"{scale * of.value:{sign}} {unit}",
        _interval(of, scale, sign), f"{effect.adjusted_p:.4f}", effect.word, _seen(effect.detectable),
    )  # fmt: skip


def _option(summary: Summary, one: Factor) -> str:
    return f"{_named(summary, one.kind, one.model)}: {one.option} {_step(one.a, one.b)}"


def _step(a: str, b: str) -> str:
    return f"{one_line(a, 30)} to {one_line(b, 30)}"


def _named(summary: Summary, name: str, model: str) -> str:
    return label(name, model, models_of(summary))


def _interval(of: Difference | Estimate | None, scale: float, sign: str) -> str:
    if of is None or of.low is None or of.high is None:
        return NONE
    return f"{scale * of.low:{sign}} to {scale * of.high:{sign}}"


def _pair(of: Paired | None) -> str:
    return NONE if of is None else f"{len(of.won)}, {len(of.lost)} (p {of.p:.4f})"


def _seen(share: float | None) -> str:
    return NONE if share is None else f"{number(100 * share, 1)} points"
