"""From a plan and its questions to the list of trials: pure and seeded, the same on every machine.

Rules: the control arm first, then all other arms interleaved question by question, so that drift of the target hits
every arm alike; a stage repeats the set until it has enough measured trials unless told not to; warm-up trials are
extra and never part of the measured set. Knows nothing of workers: the same list serves one or many.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice

from loadrig.words.corpus import Question
from loadrig.words.record import Phase
from loadrig.words.settings import Plan
from loadrig.words.trial import Stage, Trial

Cell = tuple[str, str, Question]  # arm, model, question


def stages(plan: Plan) -> tuple[Stage, ...]:
    """The stages in the order given, each level once."""
    return tuple(Stage(f"c{level}", level) for level in dict.fromkeys(plan.load.concurrency))


def trials(plan: Plan, questions: Sequence[Question]) -> tuple[Trial, ...]:
    """Every trial of every stage, in the order they are leased; `position` counts from 0 over the whole run."""
    planned: list[Trial] = []
    for stage in stages(plan):
        for phase, repetition, cell in _of_stage(plan, stage, questions):
            planned.append(_trial(len(planned), stage, phase, repetition, cell))
    return tuple(planned)


def repetitions(plan: Plan, stage: Stage, cells: int) -> int:
    """How often a stage asks its set of `cells`: the plan's repetitions, or until max(200, 10 N) measured trials."""
    enough = max(200, 10 * stage.concurrency) if plan.load.cycle else 0
    return max(plan.repetitions, -(-enough // cells))


def _of_stage(plan: Plan, stage: Stage, questions: Sequence[Question]) -> Iterator[tuple[Phase, int, Cell]]:
    models = [model.id for model in plan.model]
    control = [arm.name for arm in plan.arms if arm.name == "control"]
    others = [arm.name for arm in plan.arms if arm.name != "control"]
    order = random.Random(f"{plan.seed}/{stage.name}/warmup")
    warm = list(_interleaved(order, [*others, *control], models, questions))
    for number, cell in enumerate(islice(cycle(warm), plan.load.warmup)):
        yield "warmup", number // len(warm) + 1, cell
    times = repetitions(plan, stage, len(warm))
    for arms in (control, others):
        for repetition in range(1, times + 1):
            order = random.Random(f"{plan.seed}/{stage.name}/{repetition}")
            for cell in _interleaved(order, arms, models, questions):
                yield "measured", repetition, cell


def _interleaved(
    order: random.Random, arms: Sequence[str], models: Sequence[str], questions: Iterable[Question]
) -> Iterator[Cell]:
    """Questions in seeded order; for each the arms and models in an order of their own."""
    shuffled = list(questions)
    order.shuffle(shuffled)
    pairs = [(arm, model) for arm in arms for model in models]
    for question in shuffled:
        order.shuffle(pairs)
        yield from ((arm, model, question) for arm, model in pairs)


def _trial(position: int, stage: Stage, phase: Phase, repetition: int, cell: Cell) -> Trial:
    arm, model, question = cell
    name = "\x1f".join((stage.name, phase, arm, model, question.id, str(repetition)))
    return Trial(
        id=hashlib.blake2b(name.encode(), digest_size=6).hexdigest(),
        position=position,
        arm=arm,
        model=model,
        question=question.id,
        category=question.category,
        repetition=repetition,
        stage=stage.name,
        phase=phase,
    )
