"""Counters of chat completions: cumulative, partly inside one another, and never what was not told."""

from __future__ import annotations

from typing import Any

import pytest
from chat_events import DONE, NAMED, chunk, event, start, txt

from loadrig.providers import load
from loadrig.sse import Decoder
from loadrig.words.record import Usage

FINISH = chunk({}, "stop")
BESIDE = "thinking counted beside output"


def last(counted: Any) -> bytes:
    return event({**NAMED, "choices": [], "usage": counted})


def total(*events: bytes) -> Usage:
    reader = load("openai").reader()
    for payload in Decoder().feed(b"".join(events)):
        reader.feed(payload)
    return reader.heard().usage


def of(counted: Any) -> Usage:
    """The usage of a whole reply whose last chunk says this."""
    return total(start(), txt("Hi"), FINISH, last(counted), DONE)


def test_cached_tokens_are_part_of_the_prompt() -> None:
    """E8: 8,012 in the prompt, 8,000 of them cached: 12 uncached; reasoning stays inside the output."""
    counted = {
        "prompt_tokens": 8012, "completion_tokens": 120, "total_tokens": 8132,
        "prompt_tokens_details": {"cached_tokens": 8000, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 80},
    }  # fmt: skip

    assert of(counted) == Usage(input=12, cache_read=8000, output=120, thinking=80)


def test_what_is_not_told_is_not_zero() -> None:
    """No details: nothing is known of a cache or of reasoning. A server that tells nothing has no figures, inexact."""
    assert of({"prompt_tokens": 9, "completion_tokens": 5}) == Usage(input=9, output=5)
    assert total(start(), txt("Hi"), FINISH, DONE) == Usage(exact=False, flags=("no final output",))
    assert of(None) == Usage(exact=False, flags=("no final output",))


def test_usage_in_every_chunk_is_overwritten_never_added() -> None:
    """Cumulative figures: the last stands; those before the finish reason are not final."""
    running = [chunk({"content": "a"}, usage={"prompt_tokens": 9, "completion_tokens": n}) for n in (1, 2, 3)]

    assert total(start(), *running, FINISH, last({"prompt_tokens": 9, "completion_tokens": 4}), DONE).output == 4
    assert total(start(), *running, FINISH, DONE) == Usage(input=9, output=3, exact=False, flags=("no final output",))


def test_usage_may_come_with_the_finish_reason() -> None:
    """One chunk that has both is final, whether or not another follows."""
    both = chunk({}, "stop", usage={"prompt_tokens": 9, "completion_tokens": 4})

    assert total(start(), txt("Hi"), both, DONE) == Usage(input=9, output=4)
    assert total(start(), txt("Hi"), both, last(None), DONE) == Usage(input=9, output=4)


def test_null_and_zero_wipe_nothing() -> None:
    """E3: a later null or 0 leaves what was told; a first 0 is a true 0."""
    first = chunk({}, "stop", usage={"prompt_tokens": 90, "completion_tokens": 55})

    assert total(first, last({"prompt_tokens": 0, "completion_tokens": None}), DONE) == Usage(input=90, output=55)
    assert of({"prompt_tokens": 5, "completion_tokens": 0}).output == 0


def test_a_broken_stream_has_at_least_what_was_told() -> None:
    """E6: figures of a stream without an end are a lower bound."""
    counted = {"prompt_tokens": 90, "completion_tokens": 1}

    assert total(chunk({"content": "a"}, usage=counted)) == Usage(input=90, output=1, exact=False)


@pytest.mark.parametrize(("counted", "expected"), [
    ({"prompt_tokens": -5, "completion_tokens": 5}, Usage(output=5, flags=("negative input",))),
    ({"prompt_tokens": "12", "completion_tokens": 5}, Usage(output=5, flags=("odd input",))),
    ({"prompt_tokens": 9, "completion_tokens": True},
     Usage(input=9, exact=False, flags=("odd output", "no final output"))),
    ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": -1}},
     Usage(input=9, output=5, flags=("negative cache_read",))),
    ({"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": []}, Usage(input=9, output=5)),
])  # fmt: skip
def test_odd_counters_are_left_out_and_flagged(counted: Any, expected: Usage) -> None:
    """E9: negative, text, true: the reply is kept, nothing becomes negative, the record says which."""
    assert of(counted) == expected


def test_more_cached_than_sent_is_flagged() -> None:
    """A server that leaves cached tokens out of the prompt's: nothing goes below 0, and it is said."""
    counted = {"prompt_tokens": 12, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8000}}

    assert of(counted) == Usage(input=12, cache_read=8000, output=5, flags=("cached exceeds input",))


def test_reasoning_counted_beside_the_output_is_put_inside() -> None:
    """B4: 40 and 80 beside it, by the server's own total, are 120 of which 80 were thought; by another total, 40."""
    counted = {"prompt_tokens": 10, "completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 80}}
    beside, inside = of({**counted, "total_tokens": 130}), of({**counted, "total_tokens": 50})

    assert beside == Usage(input=10, output=120, thinking=80, flags=(BESIDE,))
    assert (inside.output, inside.thinking, inside.flags) == (40, 80, ())


def test_written_tokens_are_five_minute_writes_with_a_flag() -> None:
    """What an endpoint wrote to its cache is no plain input; for how long, it does not say."""
    details = {"cached_tokens": 20, "cache_write_tokens": 50}
    found = of({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": details})

    assert (found.input, found.cache_read, found.cache_write_5m, found.cache_write_1h) == (30, 20, 50, 0)
    assert found.flags == ("write split unknown",)


def test_what_a_gateway_calls_created_in_a_cache_was_written() -> None:
    """1,000 in the prompt, 700 read and 200 written: 100 are plain input."""
    details = {"cached_tokens": 700, "cache_creation_tokens": 200}
    found = of({"prompt_tokens": 1000, "completion_tokens": 5, "prompt_tokens_details": details})

    assert (found.input, found.cache_read, found.cache_write_5m, found.exact) == (100, 700, 200, True)


def test_no_output_counted_for_a_reply_with_text_is_not_exact() -> None:
    """A server that does not count streams says 0: it cost at least that; of a reply without anything 0 is true."""
    nothing = {"prompt_tokens": 9, "completion_tokens": 0}

    assert of(nothing) == Usage(input=9, output=0, exact=False, flags=("output not counted",))
    assert total(start(), FINISH, last(nothing), DONE) == Usage(input=9, output=0)
    call = {"index": 0, "id": "a", "function": {"name": "find", "arguments": "{}"}}
    for generated in ({"tool_calls": [call]}, {"reasoning_content": "hm"}):
        assert total(start(), chunk(generated), FINISH, last(nothing), DONE).exact is False
