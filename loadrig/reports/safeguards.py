"""What the safeguards found, for the top of every report; the artefacts that look like findings; contamination."""

from __future__ import annotations

from collections.abc import Sequence

from loadrig.analysis.summary import Summary
from loadrig.reports.table import NONE, Table
from loadrig.words.safeguard import WORST_FIRST, Safeguard

CONTAMINATION = "contamination"


def headline(summary: Summary) -> str:
    """One sentence: how many checks there were and what became of them, the passed ones last."""
    counts = {verdict: sum(one.verdict == verdict for one in summary.safeguards) for verdict in WORST_FIRST}
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    return f"Safeguards: {told}" if told else "Safeguards: none"


def troubles(summary: Summary) -> list[Safeguard]:
    """Checks that did not pass, the worst first."""
    found = [one for one in summary.safeguards if one.verdict != "passed"]
    return sorted(found, key=lambda one: WORST_FIRST.index(one.verdict))


def lines(summary: Summary) -> list[str]:
    """Each check in one line, the worst first, else in the order of the table of checks."""
    ordered = sorted(summary.safeguards, key=lambda one: WORST_FIRST.index(one.verdict))
    return [line(one, summary) for one in ordered]


def artefacts(summary: Summary) -> list[str]:
    """What the instrument can do that looks like a finding, and what the checks for it said, in a line each."""
    return [
        f"{one.verdict}: {one.name}, which looks like: {one.looks_like} (checks: {', '.join(one.checks)})"
        for one in summary.artefacts
    ]


def contamination(summary: Summary) -> Table | None:
    """What the control gave away, a model on a row; None when nothing was asked."""
    found = [one for one in summary.safeguards if one.name == CONTAMINATION]
    if not found:
        return None
    names = tuple(dict.fromkeys(figure.name for one in found for figure in one.figures))
    rows = tuple((one.of, *_values(one, names), one.verdict) for one in found)
    return Table(
        "Contamination", ("model", *names, "verdict"), rows, tuple(dict.fromkeys(one.sentence for one in found))
    )


def line(one: Safeguard, summary: Summary) -> str:
    """A check in one line."""
    several = len({other.of for other in summary.safeguards if other.of}) > 1
    return f"{one.verdict}: {_name(one, several=several)}: {one.sentence}"


def _name(one: Safeguard, *, several: bool) -> str:
    return f"{one.name} ({one.of})" if several and one.of else one.name


def _values(one: Safeguard, names: Sequence[str]) -> list[str]:
    of = {figure.name: figure.value for figure in one.figures}
    return [NONE if of.get(name) is None else str(of[name]) for name in names]
