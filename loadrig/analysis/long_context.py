"""What a run tells of long contexts: depth, length, and single facts beside all other kinds of probes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from loadrig.analysis.bands import Depths, depths
from loadrig.analysis.contexts import Looked
from loadrig.analysis.experiments.cells import Cell, cells
from loadrig.analysis.lengths import Lengths, lengths
from loadrig.corpus.needles.whole import NAMES
from loadrig.log import RunFolder
from loadrig.stats import Share, wilson

SINGLE = "single_needle"


@dataclass(frozen=True, slots=True)
class Probes:
    """How an arm does on single needles, and on every other kind of probe together."""

    arm: str
    model: str
    single: Share
    others: Share | None


@dataclass(frozen=True, slots=True)
class LongContext:
    """Empty where a run has nothing of the kind."""

    depths: tuple[Depths, ...]
    lengths: tuple[Lengths, ...]
    probes: tuple[Probes, ...]


def long_context(run: RunFolder, looked: Sequence[Looked]) -> LongContext:
    """Of a run's folder and its answers, looked at."""
    every = cells(run)
    return LongContext(depths(run, every), lengths(every, looked), tuple(_probes(run, every)))


def _probes(run: RunFolder, every: Iterable[Cell]) -> Iterator[Probes]:
    kinds = {question.id: question.category for question in run.questions.values() if question.category in NAMES}
    for cell in every:
        single = [right for question, right in cell.right.items() if kinds.get(question) == SINGLE]
        others = [right for question, right in cell.right.items() if kinds.get(question, SINGLE) != SINGLE]
        found = wilson(sum(single), len(single))
        if found is not None:
            yield Probes(cell.arm, cell.model, found, wilson(sum(others), len(others)))
