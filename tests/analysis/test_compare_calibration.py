"""How often a comparison cries wolf, and how often it hears one: seeded synthetic runs, no network."""

from __future__ import annotations

import msgspec
import numpy as np
from compared import nothing_to_collect, run_of  # noqa: F401
from records import S, question, record

from loadrig.analysis.compare.accuracy import accuracy, worded
from loadrig.analysis.compare.marks import marks
from loadrig.analysis.compare.marks import worded as worded_marks
from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.whole import Comparison, compare
from loadrig.log import RunFolder
from loadrig.statistics.clustered import Draws
from loadrig.words.record import Usage

ROUNDS, SEED = 100, 20260


def synthetic(name: str, rng: np.random.Generator, n: int, *, right: float, repetitions: int = 1) -> RunFolder:
    """n questions of their own difficulty and length, answered rightly with probability `right` on average, else with
    a superseded value or an invented one; times vary by question and by trial, tokens by trial."""
    hard = np.random.default_rng(n).beta(6 * right, 6 * (1 - right), n)
    slow = np.random.default_rng(n + 1).lognormal(0, 0.5, n)
    return run_of(
        name,
        [
            record(
                f"{i}.{again}", arm="k5", question=f"q{i}", category=("fact", "trap")[i % 2], repetition=again,
                answer="yes" if rng.random() < hard[i] else ("red", "blue", "grey")[rng.integers(3)],
                service_ns=int(S * slow[i] * rng.lognormal(0, 0.3)), trial_ttft_ns=int(S * rng.lognormal(-2, 0.4)),
                ttfat_ns=int(S * rng.lognormal(-1.5, 0.4)), usage=Usage(input=2000, output=int(rng.integers(20, 90))),
                cost=f"{rng.uniform(0.001, 0.002):.6f}",
            )
            for again in range(1, repetitions + 1) for i in range(n)
        ],
        questions={
            f"q{i}": question(f"q{i}", category=("fact", "trap")[i % 2], stale=("red",), must_not_contain=("blue",))
            for i in range(n)
        },
    )  # fmt: skip


def alarms(found: Comparison) -> list[str]:
    """Everything that was called higher or lower."""
    (pair,) = found.pairs
    rows = [row for row in (pair.accuracy, *pair.categories, *pair.marks, *pair.figures) if row is not None]
    return [str(row) for row in rows if row.word != "inside noise"]


def test_two_runs_of_the_same_are_rarely_told_apart() -> None:
    """Of 100 comparisons of a system with itself, over accuracy, two categories, stale and invented answers and fifteen
    figures together, at most ten raise any alarm."""
    rng = np.random.default_rng(SEED)
    draws = Draws(bootstraps=200, permutations=999)
    found = [
        alarms(
            compare(*(synthetic(name, rng, 30, right=0.85, repetitions=1 + number % 2) for name in "ab"), draws=draws)
        )
        for number in range(ROUNDS)
    ]
    assert sum(map(bool, found)) <= 10, found


def test_a_planted_loss_is_found() -> None:
    """.95 against .80 on 110 questions is called lower in at least 80 of 100 comparisons, and never higher."""
    rng, words = np.random.default_rng(SEED), []
    for _ in range(ROUNDS):
        ((a, b),) = pairs(planted("a", rng, 110, 0.95), planted("b", rng, 110, 0.80))
        (row,) = worded(accuracy(a, b, Draws(bootstraps=200, permutations=49))[:1], "accuracy")
        words.append(row.word)
    assert words.count("lower") >= 80
    assert "higher" not in words


def test_a_planted_staleness_is_found() -> None:
    """A fifth of 110 answers stale instead of right: called higher in at least 80 of 100 comparisons, never lower."""
    rng, words = np.random.default_rng(SEED), []
    draws = Draws(bootstraps=200, permutations=49)
    for _ in range(ROUNDS):
        ((a, b),) = pairs(planted("a", rng, 110, 0.98), planted("b", rng, 110, 0.80))
        words.append(worded_marks(marks(a, b, draws))[0].word)
    assert words.count("higher") >= 80
    assert "lower" not in words


def test_a_planted_delay_is_found() -> None:
    """Half as much service time again on 30 questions, with two repetitions: called higher in at least 16 of 20."""
    rng, heard = np.random.default_rng(SEED), 0
    for _ in range(20):
        a, b = (synthetic(name, rng, 30, right=0.85, repetitions=2) for name in "ab")
        slower = [msgspec.structs.replace(r, service_ns=(r.service_ns or 0) * 3 // 2) for r in b.records]
        found = alarms(compare(a, run_of("b", slower), draws=Draws(bootstraps=200, permutations=999)))
        heard += any("service" in alarm for alarm in found)
    assert heard >= 16


def planted(name: str, rng: np.random.Generator, n: int, right: float) -> RunFolder:
    """Answers only, each right with the same probability, else with a superseded value."""
    hit = rng.random(n) < right
    return run_of(
        name,
        [record(f"t{i}", arm="k5", question=f"q{i}", answer="yes" if hit[i] else "red") for i in range(n)],
        questions={f"q{i}": question(f"q{i}", stale=("red",)) for i in range(n)},
    )
