"""Tokens turn by turn: what is averaged over which turns."""

from __future__ import annotations

from records import record, turn

from loadrig.analysis.usage import TokenMeans, by_turn, token_means
from loadrig.words.record import Usage


def test_a_turns_mean_is_over_the_trials_that_had_it() -> None:
    """One trial of a single turn, one of two: the first turn's mean is of both, the second's of the longer one."""
    short = record("t1", turns=(turn("0.01", usage=Usage(input=100, output=10)),))
    long = record("t2", turns=(turn("0.03", usage=Usage(input=300, output=30)), turn(usage=Usage(input=500, output=5))))
    first, second = by_turn([short, long])
    assert (first.n, first.prompt, first.output, first.cost) == (2, 200, 20, 0.02)
    assert (second.n, second.prompt, second.output, second.cost) == (1, 500, 5, None)


def test_cache_writes_of_both_lifetimes_count() -> None:
    """100 tokens written for five minutes and 300 for an hour are 400 written, and part of the prompt."""
    means = token_means([Usage(input=12, cache_write_5m=100, cache_write_1h=300, cache_read=0, output=5)])
    assert means == TokenMeans(n=1, prompt=412, uncached=12, cache_write=400, cache_read=0, output=5, thinking=None)
