"""The list of trials: order, counts, identities."""

from __future__ import annotations

from collections import Counter

from loadrig.arms.control import Control
from loadrig.arms.rag import Rag
from loadrig.plan import stages, trials
from loadrig.words.settings import ModelSettings
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
