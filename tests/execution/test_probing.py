"""What a probe's replies say of the window and of the reported tokens."""

from __future__ import annotations

from typing import Any

import pytest
from records import record

from loadrig.execution.probing import by_count, by_ratio, context
from loadrig.markers import Marked, marked
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.record import Failure, Record

LONG = "\n".join(f"This is line {number} of a long text." for number in range(400))


def rounds(*dropped: set[int], **given: Any) -> list[tuple[Marked, Record]]:
    """A round for each set: an answer that repeats all markers but those."""
    found = []
    for number, gone in enumerate(dropped):
        made = marked(Prompt("", (Ask((Part(LONG, static=True),)),)), str(number))
        assert made is not None
        answer = "\n".join(secret for place, secret in enumerate(made.secrets) if place not in gone)
        found.append((made, record(f"p{number}", **{"answer": answer, **given})))
    return found


@pytest.mark.parametrize(
    ("dropped", "verdict"),
    [
        ((set(),), "passed"),
        (({0}, {0}), "failed"),
        (({4}, {4, 5}), "failed"),
        (({4}, set()), "passed"),
        (({4}, {6}), "warned"),
        ((set(range(9)),) * 2, "not checked"),
    ],
)
def test_what_is_missing_twice_was_cut(dropped: tuple[set[int], ...], verdict: str) -> None:
    """A-80: once may be carelessness; a model that repeats nothing, not even the last line, tells nothing."""
    assert context(rounds(*dropped), "m", "full_context").verdict == verdict


def test_a_probe_that_failed_is_no_pass() -> None:
    """A-80: not checked, with the reason."""
    broken = rounds(set(), outcome="failed", reason="timeout", failure=Failure("timeout", "no byte in 60 s"))
    one = context(broken, "m", "full_context")
    assert one.verdict == "not checked"
    assert "no byte in 60 s" in one.sentence


@pytest.mark.parametrize(
    ("reported", "expected", "local", "verdict"),
    [
        (18_081, 18_081, 11_743, "passed"),
        (13_226, 13_226, 11_743, "passed"),
        (17_000, 18_081, 11_743, "failed"),
        (5_000, 5_000, 11_743, "warned"),
    ],
)
def test_tokens_are_held_against_the_providers_own_count(
    reported: int, expected: int, local: int, verdict: str
) -> None:
    """A-81: 1.54 and 1.13 times the local count are both healthy; 6 % too few are not; 0.43 times is no tokenizer."""
    assert by_count(reported, expected, local=local, model="m").verdict == verdict


@pytest.mark.parametrize(
    ("wide", "short", "verdict"), [(1.5, 1.54, "not checked"), (0.8, 1.54, "failed"), (0.5, 0.5, "warned")]
)
def test_where_nothing_is_counted_the_whole_is_held_against_a_short_piece(
    wide: float, short: float, verdict: str
) -> None:
    """A-81: the ratio of a short prompt of the same text calibrates the whole one's; it cannot pass, for a factor that
    is on both cancels out, and it says so."""
    one = by_ratio(wide, short, model="m")
    assert one.verdict == verdict
    assert ("a factor on all counts is not checked" in one.sentence) is (verdict == "not checked")
