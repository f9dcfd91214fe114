"""The list of trials: order, counts, identities."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from loadrig.arms.control import Control
from loadrig.arms.rag import Rag
from loadrig.plan import likely, mistake, stages, trials
from loadrig.words.errors import InputError
from loadrig.words.settings import LimitSettings, ModelSettings
from loadrig.words.trial import OpenLoop
from plans import plan, questions

ARMS = (Control(), Rag(k=3), Rag(k=5))


def test_every_question_meets_every_arm_once_in_one_pass() -> None:
    """A single pass of 4 questions and 3 arms is 12 trials, each pair once."""
    planned = trials(plan(*ARMS), questions(4))
    pairs = Counter((trial.arm, trial.question) for trial in planned)
    assert len(planned) == 12
    assert set(pairs.values()) == {1}


def test_control_comes_first_and_the_others_are_interleaved() -> None:
    """Within a stage all control trials come before any other; then each question meets all arms in turn."""
    planned = trials(plan(*ARMS), questions(4))
    assert [trial.arm for trial in planned[:4]] == ["control"] * 4
    for start in range(4, 12, 2):
        pair = planned[start : start + 2]
        assert {trial.arm for trial in pair} == {"rag-bm25-k3", "rag-bm25-k5"}
        assert pair[0].question == pair[1].question


def test_a_stage_repeats_its_set_until_it_has_enough_trials() -> None:
    """max(200, 10 N): 12 cells at 2 in flight need 17 repetitions (204), at 30 in flight 25 (300)."""
    planned = trials(plan(*ARMS, load={"cycle": True, "concurrency": (2, 30)}), questions(4))
    assert Counter(trial.stage for trial in planned) == {"c2": 204, "c30": 300}
    assert max(trial.repetition for trial in planned if trial.stage == "c2") == 17


def test_repetitions_of_the_plan_are_the_least() -> None:
    """Three repetitions of 300 cells stay three, though one would be enough for the stage."""
    planned = trials(plan(*ARMS, repetitions=3, load={"cycle": True}), questions(100))
    assert len(planned) == 900


def test_warmup_trials_are_extra() -> None:
    """Five warm-up trials come before the measured ones and take nothing from them."""
    planned = trials(plan(*ARMS, load={"warmup": 5}), questions(4))
    assert [trial.phase for trial in planned[:5]] == ["warmup"] * 5
    assert Counter(trial.phase for trial in planned) == {"warmup": 5, "measured": 12}


def test_identities_are_unique_and_stable() -> None:
    """The same plan gives the same list; no two trials share an id; positions count up."""
    first, second = (trials(plan(*ARMS, load={"warmup": 50}), questions(4)) for _ in range(2))
    assert first == second
    assert len({trial.id for trial in first}) == len(first)
    assert [trial.position for trial in first] == list(range(len(first)))


def test_another_seed_changes_the_order_and_nothing_else() -> None:
    """Seeds 7 and 8 plan the same trials in another order."""
    first, second = (trials(plan(*ARMS, seed=seed), questions(8)) for seed in (7, 8))
    assert [trial.id for trial in first] != [trial.id for trial in second]
    assert {trial.id for trial in first} == {trial.id for trial in second}


def test_every_model_is_asked() -> None:
    """Two models double the trials."""
    planned = trials(plan(*ARMS, model=(ModelSettings(id="a"), ModelSettings(id="b"))), questions(4))
    assert Counter(trial.model for trial in planned) == {"a": 12, "b": 12}


def test_a_level_listed_twice_is_one_stage() -> None:
    """Concurrency 4, 1, 4 makes the stages c4 and c1."""
    assert [stage.name for stage in stages(plan(load={"concurrency": (4, 1, 4)}), questions(4))] == ["c4", "c1"]


S = 1_000_000_000
OPEN = {"concurrency": None, "rate": (2.0,), "arrivals": "constant"}


def test_an_open_loop_gives_every_trial_its_due_time() -> None:
    """Two a second for 3 s: six trials, each half a second; ten times what the limit holds in flight."""
    small = plan(*ARMS, load={**OPEN, "duration_s": 3.0}, limits=LimitSettings(total=4))
    (stage,), planned = stages(small, questions(4)), trials(small, questions(4))
    assert (stage.name, stage.concurrency) == ("r2", None)
    assert stage.open_loop == OpenLoop("constant", 2.0, 0.0, 80, 0, 3 * S)
    assert [trial.due_ns for trial in planned] == [n * S // 2 for n in range(6)]


def test_without_a_duration_an_open_loop_asks_its_set() -> None:
    """Twelve cells in one pass are twelve trials; filled up to 200 they are 204; the stage lasts until the next."""
    one_pass, filled = (plan(*ARMS, load={**OPEN, "cycle": cycle}) for cycle in (False, True))
    assert [len(trials(small, questions(4))) for small in (one_pass, filled)] == [12, 204]
    (stage,) = stages(one_pass, questions(4))
    assert stage.open_loop is not None
    assert stage.open_loop.length_ns == 6 * S


def test_warm_up_and_ramp_come_before_what_is_measured() -> None:
    """Four of warm-up and a ramp of 2 s at 2 a second: 2 + 4 trials until 4 s, then six in 3 s."""
    small = plan(*ARMS, load={**OPEN, "duration_s": 3.0, "warmup": 4, "ramp_s": 2.0})
    planned = trials(small, questions(4))
    assert [trial.phase for trial in planned] == ["warmup"] * 6 + ["measured"] * 6
    assert planned[6].due_ns == 4 * S


def test_each_rate_is_a_stage_with_arrivals_of_its_own() -> None:
    """2.5, 1 and 2.5 a second make the stages r2.5 and r1; their draws differ, a seed gives the same again."""
    small = plan(*ARMS, load={**OPEN, "rate": (2.5, 1.0, 2.5), "arrivals": None, "duration_s": 20.0})
    assert [stage.name for stage in stages(small, questions(4))] == ["r2.5", "r1"]
    assert trials(small, questions(4)) == trials(small, questions(4))
    assert trials(small, questions(4)) != trials(replace(small, seed=8), questions(4))
    due = {name: [t.due_ns for t in trials(small, questions(4)) if t.stage == name] for name in ("r2.5", "r1")}
    assert due["r2.5"][0] != due["r1"][0] * 2 / 5


def test_a_stage_of_stated_duration_asks_all_arms_alike_wherever_it_ends() -> None:
    """Cut after 30 trials of 12 a repetition: between 8 and 12 of each of three arms."""
    small = plan(*ARMS, load={**OPEN, "duration_s": 15.0})
    counts = Counter(trial.arm for trial in trials(small, questions(4)))
    assert counts == {"control": 12, "rag-bm25-k3": 9, "rag-bm25-k5": 9}


def test_a_closed_loop_of_stated_duration_has_trials_enough() -> None:
    """Two in flight for 3 s: 60 are at hand, six likely at 5 s each; the warm-up is extra."""
    small = plan(*ARMS, load={"duration_s": 15.0, "warmup": 5})
    (stage,), planned = stages(small, questions(4)), trials(small, questions(4))
    assert Counter(trial.phase for trial in planned) == {"warmup": 5, "measured": 300}
    assert Counter(trial.phase for trial in likely((stage,), planned)) == {"warmup": 5, "measured": 6}


def test_a_replay_asks_each_question_at_its_own_time_in_every_arm() -> None:
    """Questions due at 2.5 and 0.5 s, three arms: three trials at 0.5 s, three at 2.5 s, 0.86 a second."""
    asked = [replace(one, at_s=at_s) for one, at_s in zip(questions(2), (2.5, 0.5), strict=True)]
    small = plan(*ARMS, load={"concurrency": None, "replay": True})
    (stage,), planned = stages(small, asked), trials(small, asked)
    assert [(trial.question, trial.due_ns) for trial in planned] == [("q2", S // 2)] * 3 + [("q1", 5 * S // 2)] * 3
    assert stage.open_loop is not None
    assert (stage.name, stage.open_loop.length_ns, stage.open_loop.rate_per_s) == ("replay", 7 * S // 2, 6 / 3.5)


def test_a_replay_wants_a_time_for_each_question() -> None:
    """A question without at_s is named."""
    with pytest.raises(InputError, match="question 'q1' has no at_s"):
        trials(plan(load={"concurrency": None, "replay": True}), questions(1))


def test_a_stage_in_which_nothing_is_due_is_refused() -> None:
    """A trial in ten seconds, Poisson, in a thousandth of one."""
    small = plan(load={**OPEN, "rate": (0.1,), "arrivals": "poisson", "duration_s": 0.001})
    with pytest.raises(InputError, match=r"at 0\.1 a second no trial is due in 0\.001 s"):
        stages(small, questions(4))


@pytest.mark.parametrize(
    ("load", "key"),
    [
        ({"rate": (1.0,)}, "concurrency"),
        ({"replay": True}, "concurrency"),
        ({"concurrency": None, "rate": (1.0,), "replay": True}, "rate"),
        ({"concurrency": None, "replay": True, "duration_s": 5.0}, "duration_s"),
        ({"concurrency": None, "rate": (1.0,), "think_s": 1.0}, "think_s"),
        ({"arrivals": "poisson"}, "arrivals"),
        ({"ramp_s": 3.0}, "ramp_s"),
        ({"max_in_flight": 3}, "max_in_flight"),
    ],
)
def test_what_does_not_go_together_is_told(load: dict[str, object], key: str) -> None:
    """Two loops at once, and settings of one in the other: by the key to change, with a remedy."""
    found = mistake(plan(load=load))
    assert found is not None
    assert found[0] == key
    assert found[2]


def test_what_goes_together_is_no_mistake() -> None:
    """Either loop alone, with what belongs to it."""
    for load in ({}, {**OPEN, "ramp_s": 2.0, "max_in_flight": 9}, {"think_s": 1.0, "duration_s": 5.0}):
        assert mistake(plan(load=load)) is None
