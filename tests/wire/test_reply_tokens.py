"""The tokens that an arm with a budget is told of: prompt and output of a turn, as they were reported."""

from __future__ import annotations

from asking import ask
from scripted_server import Script
from stream_events import blk, delta, start, stop, txt

PART = start(input_tokens=100, cache_read_input_tokens=20, output_tokens=1) + blk("text") + txt("Yes")


def tokens(*scripts: Script) -> int | None:
    asked, _ = ask(*scripts)
    assert asked.reply is not None
    return asked.reply.tokens


def test_prompt_and_output_are_summed_whatever_was_cached() -> None:
    """100 uncached, 20 read from the cache, 7 of output."""
    assert tokens(Script([(0, PART + delta("end_turn", {"output_tokens": 7}) + stop())])) == 127


def test_nothing_reported_is_not_zero() -> None:
    """A reply without a single counter."""
    bare = start(input_tokens=None) + blk("text") + txt("Yes") + delta("end_turn", {}) + stop()
    assert tokens(Script([(0, bare)])) is None
