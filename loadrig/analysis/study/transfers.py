"""What of a study transfers: effects to look for elsewhere, each with what this study saw of it, and no ranking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loadrig.analysis.selection import ALL
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.figures import Figures
from loadrig.analysis.study.finding import listed
from loadrig.analysis.study.width import told as width_told


def transfers(parts: Sequence[Part], figures: Figures) -> Iterator[str]:
    """One line an effect."""
    found, split, cites, crosses = figures.recalled, figures.splits, figures.cited, figures.crossed
    never = sorted(
        {one.category for one in found if one.of == "recall" and one.category != ALL and one.reached_at is None}
    )
    yield "top-k cannot gather a whole set: " + (
        f"here {listed(never)} never reached recall 1" if never else "not seen here, every class reached recall 1"
    )
    yield "recall by class, not its mean: choose k from the class that needs the largest"
    gaps = [gap for part in parts for gap in part.summary.behaviour.gaps]
    yield "the grounding gap shows only against a control without documents: " + (
        f"here {100 * min(gap.gap for gap in gaps):+.0f} to {100 * max(gap.gap for gap in gaps):+.0f} points"
        if gaps else "no control ran here"
    )  # fmt: skip
    apart = sorted({f"{one.run}, {one.model}" for one in split if width_told(one).strength in ("lead", "result")})
    yield "more context is not safer for every model: " + (f"look at {listed(apart)}" if apart else "not seen here")
    bad, ill = sum(one.bad for one in cites), sum(one.right_ill for one in crosses)
    yield "provenance fails before correctness, and needs no grader: " + (
        f"here {bad} of {sum(one.cited for one in cites)} citations and claims do not hold, and {ill} right answers "
        "cite ill" if cites else "nothing was cited here"
    )  # fmt: skip
    names = sorted(
        {f"{one.name} ({part.name})" for part in parts for one in part.summary.artefacts if one.verdict != "passed"}
    )
    yield "artefacts of the instrument look like findings: " + (
        listed(names, 6) if names else "here the checks for all four have passed"
    )
    yield "the questions and their key outlive the accuracy table: keep them, and ask the next model with them"
