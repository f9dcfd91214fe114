"""How often an experiment raises a false alarm, and how often it finds what is there: answers drawn from a seed."""

from __future__ import annotations

from random import Random

from compared import nothing_to_collect  # noqa: F401
from experimented import described, run_of_bits

from loadrig.analysis.experiments.cells import cells
from loadrig.analysis.experiments.factors import factors, interactions
from loadrig.statistics.clustered import Draws

DRAWS = Draws(bootstraps=200, permutations=499)
QUESTIONS = 40
ARMS = {(a, b): f"c{a}i{b}" for a in (1, 0) for b in (1, 0)}
DESCRIBED = [described("full_context", name, chronology=bool(a), ids=bool(b)) for (a, b), name in ARMS.items()]


def words(seed: int, *, lost: float) -> dict[str, str]:
    """The words for both options and their interaction where each question has its own chance of a right answer, less
    `lost` of it without the sentence."""
    chance = Random(seed)
    easy = [chance.betavariate(4, 1) for _ in range(QUESTIONS)]
    right = {
        ("m", name): "".join(str(int(chance.random() < p * (1 if a else 1 - lost))) for p in easy)
        for (a, _), name in ARMS.items()
    }
    every = cells(run_of_bits(DESCRIBED, right))
    effects = {one.option: one.accuracy for one in factors(every, DRAWS)}
    (joint,) = interactions(every, DRAWS)
    return {name: effect.word for name, effect in {**effects, "both": joint.accuracy}.items() if effect is not None}


def test_where_nothing_differs_an_alarm_is_rare() -> None:
    """Of 40 experiments without any effect at most four say that there is one; 5 % would be two."""
    alarms = [seed for seed in range(40) if set(words(seed, lost=0.0).values()) != {"inside noise"}]
    assert len(alarms) <= 4


def test_an_effect_that_is_large_enough_is_found_and_blamed_on_the_right_option() -> None:
    """A third of the right answers lost without the sentence: 16 of 20 experiments or more say lower, of that alone."""
    found = [words(seed, lost=1 / 3) for seed in range(20)]
    assert sum(one["chronology"] == "lower" for one in found) >= 16
    assert sum(one["ids"] != "inside noise" for one in found) <= 2
