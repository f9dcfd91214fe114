"""Token counters of one stream: cumulative, possibly missing, possibly odd."""

from __future__ import annotations

from typing import Any

import pytest

from loadrig.providers.anthropic.usage import UsageMeter
from loadrig.words.record import Usage


def merged(start: dict[str, Any] | None, *deltas: dict[str, Any] | None, complete: bool = True) -> Usage:
    meter = UsageMeter()
    meter.take_any(start, final=False)
    for delta in deltas:
        meter.take_any(delta, final=True)
    return meter.total(complete=complete)


CASES: dict[str, tuple[list[dict[str, Any] | None], Usage]] = {
    "E1 start and end are not added": (
        [{"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 1},
         {"input_tokens": 90, "cache_read_input_tokens": 400, "output_tokens": 55}],
        Usage(input=90, cache_read=400, output=55),
    ),
    "E2 the end may carry output only": (
        [{"input_tokens": 90, "output_tokens": 1}, {"output_tokens": 55}],
        Usage(input=90, output=55),
    ),
    "E3 a zero at the end wipes nothing": (
        [{"input_tokens": 90}, {"input_tokens": 0, "output_tokens": 55}],
        Usage(input=90, output=55),
    ),
    "E3 a null at the end wipes nothing": (
        [{"input_tokens": 90}, {"input_tokens": None, "output_tokens": 55}],
        Usage(input=90, output=55),
    ),
    "E4 a larger end figure counts": (
        [{"input_tokens": 90}, {"input_tokens": 130, "output_tokens": 55}],
        Usage(input=130, output=55),
    ),
    "E5 the last of several counts": (
        [{"input_tokens": 9}, {"output_tokens": 20}, {"output_tokens": 55}],
        Usage(input=9, output=55),
    ),
    "E8 cached tokens stay apart": (
        [{"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 8000},
         {"output_tokens": 5}],
        Usage(input=12, cache_write_5m=0, cache_write_1h=0, cache_read=8000, output=5),
    ),
    "B4 thinking is inside output": (
        [{"input_tokens": 9}, {"output_tokens": 120, "output_tokens_details": {"thinking_tokens": 80}}],
        Usage(input=9, output=120, thinking=80),
    ),
    "F4 the split of a write": (
        [{"input_tokens": 20, "cache_creation_input_tokens": 4000,
          "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 3000}},
         {"output_tokens": 100}],
        Usage(input=20, cache_write_5m=1000, cache_write_1h=3000, output=100),
    ),
    "F4 no split: five minutes, and a note": (
        [{"input_tokens": 12, "cache_creation_input_tokens": 8000}, {"output_tokens": 200}],
        Usage(input=12, cache_write_5m=8000, cache_write_1h=0, output=200, flags=("write split unknown",)),
    ),
    "a split without a total": (
        [{"cache_creation": {"ephemeral_5m_input_tokens": 7}}, {"output_tokens": 2}],
        Usage(cache_write_5m=7, output=2),
    ),
    "how it was served": (
        [{"input_tokens": 9, "service_tier": "standard", "speed": "fast", "inference_geo": "us"}, {"output_tokens": 2}],
        Usage(input=9, output=2, service_tier="standard", speed="fast", inference_geo="us"),
    ),
    "how it was served, in words that are none": (
        [{"input_tokens": 9, "service_tier": None, "speed": 2, "inference_geo": {}}, {"output_tokens": 2}],
        Usage(input=9, output=2),
    ),
    "the stop came without counters": (
        [{"input_tokens": 90, "output_tokens": 1}],
        Usage(input=90, output=1, exact=False, flags=("no final output",)),
    ),
    "no usage at all": ([None, None], Usage(exact=False, flags=("no final output",))),
}  # fmt: skip


@pytest.mark.parametrize(("reports", "expected"), CASES.values(), ids=CASES)
def test_counters_merge(reports: list[dict[str, Any] | None], expected: Usage) -> None:
    """A later positive figure overwrites, null and zero do not, nothing is added, missing stays missing."""
    assert expected == merged(*reports)


@pytest.mark.parametrize(
    ("value", "flag"),
    [(-5, "negative input"), ("12", "odd input"), (1.5, "odd input"), (True, "odd input"), ([], "odd input")],
)
def test_an_odd_counter_is_flagged_and_left_out(value: object, flag: str) -> None:
    """E9: the reply is kept, the counter is unknown, totals never fall."""
    assert Usage(output=3, flags=(flag,)) == merged({"input_tokens": value}, {"output_tokens": 3})


def test_a_broken_stream_has_at_least_its_placeholder() -> None:
    """E6: input is known; output is "at least 1", marked inexact."""
    assert Usage(input=90, output=1, exact=False) == merged({"input_tokens": 90, "output_tokens": 1}, complete=False)
