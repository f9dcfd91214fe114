"""Marker lines in a prompt: where they stand, and what their absence tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.markers import MARKERS, gap, marked
from loadrig.words.prompt import Ask, Part, Prompt

LONG = "\n".join(f"This is line {number} of a long text." for number in range(400))
PROMPT = Prompt("Answer.", (Ask((Part(LONG, static=True), Part("Question: what?"))),))


def text_of(prompt: Prompt) -> str:
    (message,) = prompt.messages
    assert isinstance(message, Ask)
    return message.parts[0].text


def test_the_first_marker_is_the_very_top_and_the_last_the_very_end() -> None:
    """A-80: nothing stands before the first and nothing behind the last; the question is replaced, the system kept."""
    made = marked(PROMPT, "seed")
    assert made is not None
    lines = text_of(made.prompt).splitlines()
    assert lines[0].endswith(f"line 1: {made.secrets[0]}")
    assert lines[-1].endswith(f"line {MARKERS}: {made.secrets[-1]}")
    assert (made.places[0], made.places[-1], made.prompt.system) == (0.0, 1.0, "Answer.")


@given(st.text(min_size=8, max_size=3000))
def test_taking_the_markers_out_leaves_every_character_of_the_text(text: str) -> None:
    """The context that is probed is the one that trials send, but for whole lines and the breaks before them."""
    made = marked(Prompt("", (Ask((Part(text, static=True),)),)), "seed")
    assert made is not None
    left = text_of(made.prompt)
    start = left.partition(",")[0]
    for number, secret in enumerate(made.secrets, start=1):
        line = f"{start}, line {number}: {secret}\n"
        assert line in left
        left = left.replace(f"\n{line}" if number > 1 else line, "", 1)
    assert left == text


def test_another_seed_has_other_secrets() -> None:
    """An answer to an earlier probe is no answer to this one."""
    one, other = marked(PROMPT, "a"), marked(PROMPT, "b")
    assert one is not None
    assert other is not None
    assert not set(one.secrets) & set(other.secrets)
    assert other.missing("\n".join(one.secrets)) == tuple(range(MARKERS))


def test_a_prompt_without_a_static_part_is_not_probed() -> None:
    """Control and retrieval have none."""
    assert marked(Prompt("", (Ask((Part("Question: what?"),)),)), "seed") is None


@pytest.mark.parametrize(
    ("missing", "words"),
    [((0,), "the top"), ((0, 1, 2), "the top"), ((4,), "the middle"), ((3, 4), "the middle"), ((0, 8), "parts")],
)  # fmt: skip
def test_where_the_window_was_cut_is_told(missing: tuple[int, ...], words: str) -> None:
    """From the top, from the middle, or anywhere else."""
    assert gap(missing, [number / 8 for number in range(9)]).startswith(words)
