"""The arms of a run as cells of an experiment: by kind and model, each with its options and what its questions gave.

Options are those the manifest's plan has. A question that the control answered rightly leaves that model's accuracy.
What is of the first asked answer and what of all repetitions is as everywhere: right answers are first answers, all
else is a question's mean over its repetitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from loadrig.analysis.accuracy import dropped, score_of
from loadrig.analysis.compare.accuracy import right
from loadrig.analysis.compare.sides import Side, side_of
from loadrig.analysis.selection import CONTROL, arm_names, asked, grouped
from loadrig.arms import ARMS
from loadrig.log import RunFolder
from loadrig.measures import measure
from loadrig.words.record import succeeded

Values = Mapping[str, float]
_KINDS = {target: name for name, target in ARMS.items()}


@dataclass(frozen=True, slots=True)
class Cell:
    """An arm and a model: `options` as text by name, `right` by question whether the first answer is (what was not
    answered is not; a question nobody can judge is left out)."""

    kind: str
    options: Mapping[str, str]
    side: Side
    right: Mapping[str, bool]

    @property
    def arm(self) -> str:
        return self.side.arm

    @property
    def model(self) -> str:
        return self.side.model

    def others(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Its options but for those named: what two cells must agree in to differ in nothing else."""
        return tuple(sorted((name, value) for name, value in self.options.items() if name not in names))


def cells(run: RunFolder) -> tuple[Cell, ...]:
    """Every model and arm but the control of which something was asked, in the plan's order."""
    plan = run.manifest.get("plan") or {}
    described = {arm["name"]: arm for arm in plan.get("arms") or () if isinstance(arm, dict) and "name" in arm}
    sent = dict.fromkeys((record.model, record.arm) for record in asked(run))
    listed = [model["id"] for model in plan.get("model") or () if isinstance(model, dict) and "id" in model]
    known = grouped((drop.model, drop.question) for drop in dropped(run))
    return tuple(
        _cell(described[arm], side_of(run, arm, model), set(known.get(model, ())))
        for model in dict.fromkeys([*listed, *(model for model, _ in sent)])
        for arm in arm_names(run)
        if arm != CONTROL and arm in described and (model, arm) in sent
    )


def families(every: Iterable[Cell]) -> list[list[Cell]]:
    """Cells that share kind and model, of two and more, in their order."""
    return [of for of in grouped(((cell.model, cell.kind), cell) for cell in every).values() if len(of) > 1]


def pairs(family: Sequence[Cell], option: str, a: str, b: str) -> Iterator[tuple[Cell, Cell]]:
    """Two cells each that differ in the option alone: `a` of the first, `b` of the second."""
    at_b = {cell.others(option): cell for cell in family if cell.options.get(option) == b}
    for cell in family:
        other = at_b.get(cell.others(option))
        if cell.options.get(option) == a and other is not None:
            yield cell, other


def stale(cell: Cell) -> Values:
    """By question the share of its marked answers that are stale."""
    marks = ((record.question, score_of(cell.side.run, record)) for record in cell.side.asked)
    return _means((question, score.stale) for question, score in marks if score is not None)


def tokens_in(cell: Cell) -> Values:
    """By question the mean of its prompt tokens, all turns."""
    return _means((record.question, measure("tokens_in").value(record)) for record in cell.side.asked)


def service(cell: Cell) -> Values:
    """By question the mean time of its timed trials that succeeded, in nanoseconds."""
    timed = (record for record in cell.side.timed if succeeded(record))
    return _means((record.question, measure("service").value(record)) for record in timed)


def _cell(described: Mapping[str, Any], side: Side, known: Collection[str]) -> Cell:
    kind = str(described.get("kind"))
    options = {name: _text(value) for name, value in described.items() if name not in ("name", "kind")}
    first = {question: right(side.run, records[0]) for question, records in side.questions.items()}
    judged = {question: found for question, found in first.items() if found is not None and question not in known}
    return Cell(_KINDS.get(kind, kind), options, side, judged)


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _means(pairs: Iterable[tuple[str, float | None]]) -> Values:
    known = grouped((question, float(value)) for question, value in pairs if value is not None)
    return {question: sum(values) / len(values) for question, values in known.items()}
