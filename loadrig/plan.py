"""From a plan and its questions to the list of trials: pure and seeded, the same on every machine.

Rules: the control arm first, then all other arms interleaved question by question, so that drift of the target hits
every arm alike; a stage repeats the set until it has enough measured trials unless told not to. A stage of stated
duration may end anywhere: there each repetition begins with its control trials. Warm-up trials are extra and never part
of the measured set. In open loop every trial has its due time from here on (`loadrig.pacing`).
Knows nothing of workers: the same list serves one or many.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, cycle, islice

from loadrig.pacing import Pace, Schedule, counting, lasting, replayed
from loadrig.words.corpus import Question
from loadrig.words.errors import InputError
from loadrig.words.record import Phase
from loadrig.words.settings import Plan
from loadrig.words.trial import OpenLoop, Stage, Trial

MOST_IN_FLIGHT = 4096
SHORTEST_S = 0.1  # a closed-loop stage of stated duration has trials enough if each takes so long
TYPICAL_S = 5  # of a trial: stated beside what is reckoned from it

Cell = tuple[str, str, Question]  # arm, model, question
Step = tuple[Phase, int, Cell]  # with the repetition


def stages(plan: Plan, questions: Sequence[Question]) -> tuple[Stage, ...]:
    """The stages in the order given, each level once. Raises `InputError` for one in which nothing is due."""
    return tuple(stage for stage, _ in _scheduled(plan, questions))


def trials(plan: Plan, questions: Sequence[Question]) -> tuple[Trial, ...]:
    """Every trial of every stage, in the order they are leased; `position` counts from 0 over the whole run."""
    planned: list[Trial] = []
    for stage, schedule in _scheduled(plan, questions):
        planned.extend(_trials(plan, stage, schedule, questions, position=len(planned)))
    return tuple(planned)


def planned(
    plan: Plan, questions: Sequence[Question], *, load: float, again: int = 0, position: int = 0
) -> tuple[Stage, tuple[Trial, ...]]:
    """One stage at `load` trials in flight, or a second where the plan is an open loop, for who chooses stages as a run
    goes: as the plan has them, but in closed loop with a warm-up that fills every place, so that a queue is as long as
    it will be when the first trial is measured. `again` numbers those at one load; trials count from `position`."""
    suffix = f"-{again + 1}" if again else ""
    if plan.load.is_open:
        cells = len(plan.arms) * len(plan.model) * len(questions)
        stage, schedule = _paced(plan, load, cells, name=f"r{load:.12g}{suffix}")
    else:
        stage, schedule = Stage(f"c{load:.12g}{suffix}", int(load), duration_s=plan.load.duration_s), None
        plan = replace(plan, load=replace(plan.load, warmup=max(plan.load.warmup, stage.most)))
    return stage, tuple(_trials(plan, stage, schedule, questions, position=position))


def likely(stages: Sequence[Stage], trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """The trials that will probably be sent: of a closed-loop stage of stated duration, what fits at `TYPICAL_S`."""
    fit = {
        stage.name: math.ceil(stage.most * stage.duration_s / TYPICAL_S)
        for stage in stages if stage.duration_s is not None
    }  # fmt: skip
    seen: Counter[str] = Counter()
    chosen = []
    for trial in trials:
        seen[trial.stage] += trial.phase == "measured"
        if trial.phase == "warmup" or seen[trial.stage] <= fit.get(trial.stage, len(trials)):
            chosen.append(trial)
    return tuple(chosen)


def mistake(plan: Plan) -> tuple[str, str, str] | None:
    """What in [load] does not go together: the key, what is wrong with it, and the remedy."""
    load = plan.load
    if load.concurrency is not None and load.is_open:
        given = "replay" if load.replay else "rate"
        remedy = f"keep concurrency (closed loop: N in flight) or {given} (open loop: trials have due times)"
        return "concurrency", f"concurrency and {given} are both given", remedy
    if load.replay:
        for key in ("rate", "arrivals", "ramp_s", "duration_s"):
            if getattr(load, key):
                return key, f"{key} in a replay", f"remove {key}: the questions have due times of their own"
        if plan.repetitions > 1:
            return "replay", "a replay of several repetitions", "remove repetitions: each at_s is one due time"
    if load.is_open and load.think_s:
        return "think_s", "think_s in open loop", "remove think_s: trials are due at their times, no slot waits"
    for key in ("arrivals", "ramp_s", "max_in_flight"):
        if not load.is_open and getattr(load, key):
            return key, f"{key} without rate", f"give rate = [...] instead of concurrency, or remove {key}"
    return None


def _scheduled(plan: Plan, questions: Sequence[Question]) -> Iterator[tuple[Stage, Schedule | None]]:
    load = plan.load
    cells = len(plan.arms) * len(plan.model) * len(questions)
    if load.replay:
        schedule = replayed(tuple(at_s for _, at_s in _replay(plan, questions)))
        yield Stage("replay", None, _open_loop(plan, schedule, len(schedule.due_ns) / schedule.measured_s)), schedule
        return
    if load.rate is None:
        yield from ((Stage(f"c{n}", n, duration_s=load.duration_s), None) for n in dict.fromkeys(load.levels))
        return
    for rate in dict.fromkeys(load.rate):
        yield _paced(plan, rate, cells, name=f"r{rate:.12g}")


def _paced(plan: Plan, rate: float, cells: int, *, name: str) -> tuple[Stage, Schedule]:
    load = plan.load
    pace = Pace(rate, load.arrivals or "poisson", f"{plan.seed}/{name}/arrivals", load.ramp_s)
    if load.duration_s is None:
        schedule = counting(pace, _repetitions(plan, cells, load.least) * cells, warmup=load.warmup)
    else:
        schedule = lasting(pace, load.duration_s, warmup=load.warmup)
    if len(schedule.due_ns) == schedule.warmup:
        problem = f"at {rate:g} a second no trial is due in {load.duration_s:g} s"
        raise InputError(problem, remedy="raise duration_s of [load], or its rate")
    return Stage(name, None, _open_loop(plan, schedule, rate)), schedule


def _open_loop(plan: Plan, schedule: Schedule, rate_per_s: float) -> OpenLoop:
    load = plan.load
    return OpenLoop(
        arrivals="replay" if load.replay else load.arrivals or "poisson",
        rate_per_s=rate_per_s,
        ramp_s=load.ramp_s,
        max_in_flight=load.max_in_flight or min(MOST_IN_FLIGHT, math.ceil(10 * rate_per_s * plan.limits.total)),
        measured_from_ns=schedule.measured_from_ns,
        length_ns=schedule.length_ns,
    )


def _repetitions(plan: Plan, cells: int, enough: int) -> int:
    """How often a stage asks its set of `cells`: the plan's repetitions, or until `enough` measured trials."""
    return max(plan.repetitions, -(-enough // cells) if plan.load.cycle else 0)


def _trials(
    plan: Plan, stage: Stage, schedule: Schedule | None, questions: Sequence[Question], *, position: int
) -> Iterator[Trial]:
    due: Iterable[int | None] = cycle([None]) if schedule is None else schedule.due_ns
    steps = zip(_of_stage(plan, stage, schedule, questions), due, strict=False)
    return (_trial(number, stage, step, due_ns) for number, (step, due_ns) in enumerate(steps, start=position))


def _of_stage(plan: Plan, stage: Stage, schedule: Schedule | None, questions: Sequence[Question]) -> Iterator[Step]:
    models = [model.id for model in plan.model]
    if plan.load.replay:
        yield from (("measured", 1, cell) for cell, _ in _replay(plan, questions))
        return
    control = [arm.name for arm in plan.arms if arm.name == "control"]
    others = [arm.name for arm in plan.arms if arm.name != "control"]
    order = random.Random(f"{plan.seed}/{stage.name}/warmup")
    warm = list(_interleaved(order, [*others, *control], models, questions))
    warmup = plan.load.warmup if schedule is None else schedule.warmup
    for number, cell in enumerate(islice(cycle(warm), warmup)):
        yield "warmup", number // len(warm) + 1, cell

    def asked(arms: Sequence[str], repetition: int) -> Iterator[Step]:
        order = random.Random(f"{plan.seed}/{stage.name}/{repetition}")
        return (("measured", repetition, cell) for cell in _interleaved(order, arms, models, questions))

    if plan.load.duration_s is None:
        times = range(1, _repetitions(plan, len(warm), max(plan.load.least, 10 * (stage.concurrency or 0))) + 1)
        yield from chain.from_iterable(asked(arms, number) for arms in (control, others) for number in times)
    else:
        forever = chain.from_iterable(asked(arms, number) for number in count(1) for arms in (control, others))
        enough = math.ceil(stage.most * plan.load.duration_s / SHORTEST_S)
        yield from islice(forever, enough if schedule is None else len(schedule.due_ns) - warmup)


def _replay(plan: Plan, questions: Sequence[Question]) -> Iterator[tuple[Cell, float]]:
    """Each question, by its due time, in every arm and model at once."""
    order = random.Random(f"{plan.seed}/replay")
    arms, models = [arm.name for arm in plan.arms], [model.id for model in plan.model]
    for question in questions:
        if question.at_s is None or not 0 <= question.at_s < math.inf:
            problem = f"question {question.id!r} has no at_s from 0 on, and the plan is a replay"
            raise InputError(problem, path=plan.questions.path, remedy='give each question its due time: "at_s": 1.5')
    for question in sorted(questions, key=lambda one: one.at_s or 0.0):
        for cell in _interleaved(order, arms, models, [question]):
            yield cell, question.at_s or 0.0


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


def _trial(position: int, stage: Stage, step: Step, due_ns: int | None) -> Trial:
    phase, repetition, (arm, model, question) = step
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
        due_ns=due_ns,
    )
