"""What is compared with what: pairs of sides, each an arm and a model of a run.

Arms of one name are compared, and models of one name; where no model is common and each run has one, these two. One
`arm` named is taken on both sides, two are the first of a and the second of b; models alike. Inside one run two arms or
two models are to be named. A simulated run is not compared with a real one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadrig.analysis.selection import arm_names, asked, due, grouped, in_order, stage_names, timed
from loadrig.log import RunFolder
from loadrig.words.errors import InputError
from loadrig.words.record import Record


@dataclass(frozen=True, slots=True)
class Side:
    """An arm and a model of a run. `asked`, `timed`, `due`: its records, as `loadrig.analysis.selection` has them;
    those asked are in order of stage, repetition and trial, and `questions` has them by question."""

    run: RunFolder
    arm: str
    model: str
    asked: tuple[Record, ...]
    timed: tuple[Record, ...]
    due: tuple[Record, ...]
    questions: Mapping[str, list[Record]]

    @property
    def stages(self) -> list[str]:
        """Its stages, in the order they ran."""
        mine = {record.stage for record in self.due}
        return [stage for stage in stage_names(self.run) if stage in mine]


def pairs(
    a: RunFolder, b: RunFolder, *, arms: Sequence[str] = (), models: Sequence[str] = ()
) -> tuple[tuple[Side, Side], ...]:
    """Raises `InputError` when nothing can be compared."""
    if bool(a.manifest.get("simulated")) is not bool(b.manifest.get("simulated")):
        raise InputError(
            "a simulated run is not compared with a real one",
            path=b.path,
            remedy="compare simulated with simulated: its figures are dial settings, not evidence",
        )
    one_run = a.path.resolve() == b.path.resolve()
    if one_run and len(arms) < 2 and len(models) < 2:
        raise InputError(
            "one run, and one thing in it: nothing to compare",
            path=a.path,
            remedy="name a second run, or two arms with --arm X --arm Y, or two models with --model",
        )
    found = tuple(
        (side_of(a, arm_a, model_a), side_of(b, arm_b, model_b))
        for model_a, model_b in _named("model", _models(a), _models(b), models, at=b)
        for arm_a, arm_b in _named("arm", arm_names(a), arm_names(b), arms, at=b)
    )
    full = tuple((x, y) for x, y in found if x.questions.keys() & y.questions.keys())
    if not full:
        raise InputError("no question was asked on both sides", path=b.path, remedy="compare runs of one question set")
    return full


def stage_pairs(a: Side, b: Side) -> list[tuple[str, str]]:
    """Stages of one name; where none is common and each side has one, these two."""
    first, second = a.stages, b.stages
    common = [(stage, stage) for stage in first if stage in second]
    alone = [(first[0], second[0])] if len(first) == len(second) == 1 else []
    return common or alone


def _named(
    what: str, first: list[str], second: list[str], wanted: Sequence[str], *, at: RunFolder
) -> list[tuple[str, str]]:
    if len(wanted) > 2:
        raise InputError(f"{len(wanted)} times --{what}", remedy=f"one --{what} for both sides, or one for each")
    if wanted:
        pair = (wanted[0], wanted[-1])
        for name, known in zip(pair, (first, second), strict=True):
            if name not in known:
                raise InputError(f"no {what} {name!r}", path=at.path, remedy=f"one of: {', '.join(known)}")
        return [pair]
    common = [(name, name) for name in first if name in second]
    if not common and len(first) == len(second) == 1:
        common = [(first[0], second[0])]
    if not common:
        remedy = f"name one of {', '.join(first)} and one of {', '.join(second)} with --{what} X --{what} Y"
        raise InputError(f"the runs have no {what} in common", path=at.path, remedy=remedy)
    return common


def _models(run: RunFolder) -> list[str]:
    return list(dict.fromkeys([*(trial.model for trial in run.trials), *(record.model for record in run.records)]))


def side_of(run: RunFolder, arm: str, model: str) -> Side:
    """One arm and model of a run, whatever there is of it."""

    def mine(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(record for record in records if (record.arm, record.model) == (arm, model))

    sent = tuple(in_order(run, mine(asked(run))))
    questions = grouped((record.question, record) for record in sent)
    return Side(run, arm, model, sent, mine(timed(run)), mine(due(run)), questions)
