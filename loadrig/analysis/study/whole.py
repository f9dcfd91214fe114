"""A study as frozen values that encode to strict JSON (study.json): runs, figures, and sentences by research question.

The questions are those that a choice between retrieval, full context and agentic search asks:

RQ1 supersession     do the arms differ where an earlier document has been overturned
RQ2 other questions  aggregation, paraphrase, traps and the rest: what the search finds, and what the model makes of it
RQ3 cost             tokens, money and time of the same answer
RQ4 instruction      is what is seen the architecture's or the instruction's
RQ5 criteria         when to choose which, with this study's own figures

Every sentence is made of figures by a rule and says how far it reaches. Nothing is called better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.safeguards.saturation import SATURATED
from loadrig.analysis.selection import ALL, grouped
from loadrig.analysis.study import costs, experimented, grounded, marked, recalled, tested, width
from loadrig.analysis.study.answers import Part
from loadrig.analysis.study.criteria import Criterion
from loadrig.analysis.study.figures import Figures, figures, scope, scopes
from loadrig.analysis.study.finding import Finding, listed
from loadrig.analysis.study.limits import limits
from loadrig.analysis.study.rows import Differs, RunRow, differs, row
from loadrig.analysis.study.transfers import transfers
from loadrig.analysis.study.weighed import weighed
from loadrig.analysis.summary import SIMULATED
from loadrig.words.study import KnownSettings

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Section:
    """One research question: what it asks, and what the figures say to it."""

    id: str
    title: str
    asks: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Study:
    """`absent`: runs of the study that have no folder yet."""

    schema: int
    name: str
    title: str
    simulated: bool
    note: str | None
    runs: tuple[RunRow, ...]
    absent: tuple[str, ...]
    differences: tuple[Differs, ...]
    sections: tuple[Section, ...]
    criteria: tuple[Criterion, ...]
    limits: tuple[str, ...]
    transfers: tuple[str, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class Named:
    """Which study it is, what only its user knows, and the runs that are not there."""

    name: str
    title: str
    known: KnownSettings
    absent: tuple[str, ...] = ()


def study(parts: Sequence[Part], named: Named) -> Study:
    """Of one run or more, in the study's order."""
    found, simulated = figures(parts), any(part.summary.simulated for part in parts)
    return Study(
        schema=SCHEMA,
        name=named.name,
        title=named.title or named.name,
        simulated=simulated,
        note=SIMULATED if simulated else None,
        runs=tuple(map(row, parts)),
        absent=named.absent,
        differences=tuple(differs(parts[0], part) for part in parts[1:]),
        sections=tuple(_sections(parts, found)),
        criteria=tuple(weighed(parts[0], named.known, found)),
        limits=tuple(limits(parts, named.absent)),
        transfers=tuple(transfers(parts, found)),
        figures=found,
    )


def _sections(parts: Sequence[Part], found: Figures) -> Iterator[Section]:
    yield Section(
        "RQ1", "Supersession", "Do the architectures differ in accuracy where an earlier document has been superseded?",
        tuple(_supersession(parts, found)),
    )  # fmt: skip
    yield Section(
        "RQ2", "Aggregation, paraphrase, traps and the rest",
        "Do they differ where the whole set must be read, where the words differ, or where something was rejected?",
        tuple(_classes(parts, found)),
    )  # fmt: skip
    yield Section(
        "RQ3", "Cost", "What does each architecture cost in tokens, money and time for the same answer?",
        tuple(_costs(parts, found)),
    )  # fmt: skip
    yield Section(
        "RQ4", "Architecture or instruction",
        "Is what is seen a property of the architecture, or of the instruction and the form of the prompt?",
        tuple(_instruction(parts)),
    )  # fmt: skip
    yield Section(
        "Grounding", "Grounding", "What are documents worth, and what does the control do without them?",
        tuple(one for part in parts for one in grounded.told(part)),
    )  # fmt: skip
    yield Section(
        "Provenance", "Provenance", "Does what the answers cite exist, and does that hold as long as the answer does?",
        (*marked.cited_told(found.cited), *marked.crossed_told(found.crossed)),
    )  # fmt: skip
    yield Section(
        "Capability", "Capability", "Between which models does wide context change what it does?",
        tuple(one for part in parts for one in experimented.capability_told(part)),
    )  # fmt: skip


def _supersession(parts: Sequence[Part], found: Figures) -> Iterator[Finding]:
    without = [part.name for part in parts if scope(part) == ALL]
    if len(without) == len(parts):
        why = "no question of this study is of the class supersession: what follows is of all questions"
        yield Finding(why, (), "cannot be told")
    elif without:
        why = f"{listed(without, 8)}: no question is of the class supersession: what follows of it is of all questions"
        yield Finding(why, (), "cannot be told")
    for part in parts:
        yield from _tests(found, part.name, scope(part))
        yield from (width.told(split) for split in found.splits if split.run == part.name)
        yield from marked.told([one for one in found.marked if one.run == part.name and one.measure != marked.TRAP])
        yield from recalled.told([one for one in found.recalled if (one.run, one.of) == (part.name, "amending")])
    first, *others = parts
    for part in others:
        yield from _tests(found, f"{first.name} -> {part.name}", None)


def _classes(parts: Sequence[Part], found: Figures) -> Iterator[Finding]:
    for part in parts:
        yield from recalled.told([one for one in found.recalled if (one.run, one.of) == (part.name, "recall")])
        if ALL in scopes(part) and scope(part) != ALL:
            yield from _tests(found, part.name, ALL)
        yield from marked.told([one for one in found.marked if (one.run, one.measure) == (part.name, marked.TRAP)])
        yield from marked.misses(part)
        yield from marked.saturated(part, share=SATURATED)
        yield from experimented.curves_told(part)


def _costs(parts: Sequence[Part], found: Figures) -> Iterator[Finding]:
    for part in parts:
        yield from costs.told([one for one in found.ratios if one.run == part.name])
        yield from costs.widths_told(part)
        yield from costs.money_told(part)


def _instruction(parts: Sequence[Part]) -> Iterator[Finding]:
    told = [one for part in parts for one in experimented.options_told(part)]
    yield from told
    if not told:
        yield Finding(
            "no experiment in this study: no two arms of a run differ in one option alone, such as "
            "chronology = [true, false]",
            (),
            "cannot be told",
        )


def _tests(found: Figures, scope_name: str, category: str | None) -> Iterator[Finding]:
    mine = [one for one in found.tests if one.scope == scope_name and category in (None, one.category)]
    for family in grouped((one.model, one) for one in mine).values():
        yield from tested.told(family)
