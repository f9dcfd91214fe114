"""Prompt tokens of two runs, request by request: the same bytes have the same number of tokens."""

from __future__ import annotations

import msgspec
from compared import answers, nothing_to_collect, run_of  # noqa: F401
from records import turn

from loadrig.analysis.compare.sides import pairs
from loadrig.analysis.compare.tokens import Recounted, recounted
from loadrig.analysis.compare.whole import compare
from loadrig.log import RunFolder
from loadrig.statistics.clustered import Draws
from loadrig.words.record import Usage


def told(name: str, *tokens: int, model: str = "m", prompt: str = "p") -> RunFolder:
    """A run that asked as many questions, each in bytes of its own, and was told so many tokens."""
    records = []
    for i, record in enumerate(answers(1, len(tokens), model=model)):
        one = turn(prompt=(f"{prompt}{i}", "tail"), usage=Usage(input=tokens[i], cache_read=0))
        records.append(msgspec.structs.replace(record, turns=(one,)))
    return run_of(name, records)


def found(a: RunFolder, b: RunFolder) -> Recounted | None:
    (sides,) = pairs(a, b)
    return recounted(*sides)


def test_a_factor_on_all_counts_shows_between_two_runs() -> None:
    """1,000 and 2,000 tokens became 900 and 1,800: both requests, at .9, and the comparison warns of it by name."""
    a, b = told("a", 1000, 2000), told("b", 900, 1800)
    assert found(a, b) == Recounted(2, 2, 0.9, 0.9, 0.9)
    (warning,) = (w for w in compare(a, b, draws=Draws(300, 999)).warnings if "other prompt tokens" in w)
    assert "2 of 2 requests of the same bytes; b reports 0.900 times what a does." in warning


def test_the_same_counts_are_not_warned_of() -> None:
    """Two runs of the same, told the same."""
    a, b = told("a", 1000, 2000), told("b", 1000, 2000)
    assert found(a, b) == Recounted(2, 0, 1.0, 1.0, 1.0)
    assert not any("prompt tokens" in warning for warning in compare(a, b, draws=Draws(300, 999)).warnings)


def test_one_request_of_two_is_told_with_its_factor() -> None:
    """1,000 stayed, 2,000 became 1,000: one of two, .5 at least and 1 at most, 2,000 of 3,000 in all."""
    assert found(told("a", 1000, 2000), told("b", 1000, 1000)) == Recounted(2, 1, 2 / 3, 0.5, 1.0)


def test_other_bytes_are_not_held_against_one_another() -> None:
    """Other prompts may have other tokens."""
    assert found(told("a", 1000), told("b", 900, prompt="q")) is None
