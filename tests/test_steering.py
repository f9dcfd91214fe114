"""How a sweep goes from stage to stage, without a run: each stage's records are made up as the target would have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

import pytest
from records import MS, record

from loadrig.commands.steering import Levels, Searching
from loadrig.execution.steering import Planned, Steering
from loadrig.log import RunFolder
from loadrig.objectives import objective
from loadrig.search import Bounds
from loadrig.words.record import Record
from plans import plan, questions

Target = Callable[[int], float]  # N in flight -> milliseconds that a trial takes
QUESTIONS = questions(20)
LIMIT = objective("latency_p95", "300ms")


def slots(number: int, service_ms: float = 100) -> Target:
    return lambda n: service_ms * max(1, n / number)


def gone_through(steering: Steering, target: Target, **manifest: Any) -> list[Planned]:
    """Every stage that the steering asks for."""
    records: list[Record] = []
    done: list[Planned] = []

    def so_far() -> RunFolder:
        stages = [asdict(stage) for stage, _ in done]
        quiet = [{"stage": stage["name"], "process": "w1", "lag_p99_ns": MS} for stage in stages]
        given = {"stages": stages, "self_measurement": quiet, "plan": {"objectives": [LIMIT]}, **manifest}
        trials = tuple(chain.from_iterable(of for _, of in done))
        return RunFolder(None, given, trials, {}, tuple(records), ())  # type: ignore[arg-type]

    for planned in steering.stages(QUESTIONS, so_far):
        done.append(planned)
        records.extend(answered(planned, target))
    return done


def answered(planned: Planned, target: Target) -> Iterator[Record]:
    stage, trials = planned
    n = stage.concurrency or 1
    took = round(target(n) * MS)
    for number, trial in enumerate(trials):
        begin = number // n * took + number % n * took // n
        yield record(
            trial.id, stage=trial.stage, phase=trial.phase, begin_ns=begin, end_ns=begin + took, service_ns=took
        )


def levels(stop: bool, said: list[str] | None = None) -> Levels:
    one = plan(load={"concurrency": (16, 1, 4, 64), "cycle": True, "least": 80})
    return Levels(one, stop, [].append if said is None else said.append)


def test_levels_are_run_from_the_lowest_until_one_is_saturated() -> None:
    """Four slots: 16 gives no more than 4 did, so that 64 is not run; with --no-stop it is."""
    said: list[str] = []
    steering = levels(stop=True, said=said)
    assert [stage.name for stage, _ in gone_through(steering, slots(4))] == ["c1", "c4", "c16"]
    assert steering.told() == {
        "searched": False, "stop": True, "ended": "stopped behind c16, which is saturated: latency",
    }  # fmt: skip
    assert said[-1].endswith("--no-stop goes on")
    assert [stage.name for stage, _ in gone_through(levels(stop=False), slots(4))] == ["c1", "c4", "c16", "c64"]
    assert [stage.name for stage, _ in gone_through(levels(stop=True), slots(64))] == ["c1", "c4", "c16", "c64"]


def test_a_sweeps_warm_up_fills_every_place_and_positions_go_on() -> None:
    """No warm-up in the plan: N trials of it all the same; positions count over all stages, and no id comes twice."""
    done = gone_through(levels(stop=False), slots(4))
    warm = {stage.name: sum(trial.phase == "warmup" for trial in trials) for stage, trials in done}
    assert warm == {"c1": 1, "c4": 4, "c16": 16, "c64": 64}
    trials = [trial for _, of in done for trial in of]
    assert [trial.position for trial in trials] == list(range(len(trials)))
    assert len({trial.id for trial in trials}) == len(trials)


def search(stages: int = 12, least: int = 80, *, stop: bool = False) -> Searching:
    one = plan(load={"cycle": True, "least": least}, objectives=(LIMIT,))
    return Searching(one, Bounds(1, 64, whole=True, stages=stages), stop, [].append)


def test_a_search_closes_in_on_the_limit() -> None:
    """Four slots of 100 ms: N take 25 ms x N, so 12 in flight are the most within 300 ms; eight stages."""
    done = gone_through(search(), slots(4))
    assert [stage.name for stage, _ in done] == ["c1", "c2", "c4", "c8", "c16", "c12", "c14", "c13"]


def test_a_search_does_not_climb_beyond_saturation_unless_told() -> None:
    """Eight in flight give no more than four did and still keep the objective: there is nothing above to look for."""
    steering = search(stop=True)
    assert [stage.name for stage, _ in gone_through(steering, slots(4))] == ["c1", "c2", "c4", "c8"]
    assert steering.ended == "saturated at 8: more load would only wait"


def test_an_undecided_stage_is_repeated_once_and_both_count() -> None:
    """Ninety trials of which four lie over the limit leave a p95 open; twice as many with eight do as well."""

    def sometimes(planned: Planned) -> Iterator[Record]:
        for number, one in enumerate(answered(planned, slots(4))):
            yield replace_service(one, 400 * MS) if number % 22 == 21 else one

    steering, done, records = search(stages=3), [], []

    def so_far() -> RunFolder:
        stages = [asdict(stage) for stage, _ in done]
        given = {"stages": stages, "plan": {"objectives": [LIMIT]}}
        return RunFolder(None, given, (), {}, tuple(records), ())  # type: ignore[arg-type]

    for planned in steering.stages(QUESTIONS, so_far):
        done.append(planned)
        records.extend(sometimes(planned))
    assert [stage.name for stage, _ in done] == ["c1", "c1-2", "c2"]
    assert steering.told()["ended"] == "all 3 stages were used"


def replace_service(one: Record, took: int) -> Record:
    fields = {name: getattr(one, name) for name in one.__struct_fields__}
    return Record(**{**fields, "service_ns": took})


@pytest.mark.parametrize(("stages", "names"), [
    (12, ["c1", "c2", "c4", "c8", "c16", "c32", "c64", "c64-2", "c64-3", "c64-4", "c64-5", "c64-6"]),
    (3, ["c1", "c2", "c4"]),
])  # fmt: skip
def test_what_a_search_may_come_to_is_known_before(stages: int, names: list[str]) -> None:
    """The way up, and the stages left then as large as the last: twelve, none larger than that at the ceiling."""
    foreseen = search(stages).foreseen(QUESTIONS)
    assert [stage.name for stage, _ in foreseen] == names
    for target in (slots(4), slots(64), slots(1)):
        asked = sum(len(trials) for _, trials in gone_through(search(stages), target))
        assert asked <= sum(len(trials) for _, trials in foreseen)


def test_a_stage_of_a_search_has_trials_enough_for_its_objectives() -> None:
    """1 % of errors takes 381 trials to be clearly kept: twenty questions are asked twenty times."""
    steering = search()
    steering.plan = replace(steering.plan, objectives=(LIMIT, objective("error_share", "1%")))
    (_, trials), *_ = steering.foreseen(QUESTIONS)
    assert sum(trial.phase == "measured" for trial in trials) == 400
