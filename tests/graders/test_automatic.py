"""The automatic marks: the key, the opening claim, superseded values; each mark apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from records import failed, question, read_run, record

from loadrig.graders import automatic
from loadrig.graders.automatic import marks
from loadrig.graders.opening import contradicts, opening
from loadrig.words.corpus import Question


def delegate() -> Question:
    """There is one again; at one time there was none."""
    return question(
        reference="Yes. The delegate may search.", must_contain=("search",), stale=("the role is abolished",)
    )


def test_a_no_that_opens_a_right_answer_is_wrong_and_stale() -> None:
    """A-66: "No. ..." and then the right facts: the first word is what a reader takes away."""
    found = marks(delegate(), "No. The delegate may search the lots.")
    assert (found.correct, found.stale) == (False, True)
    assert found.note == "opens with no, the reference with yes"


def test_the_same_facts_behind_a_yes_are_right() -> None:
    """And telling that the role is abolished, as history, is not stale."""
    found = marks(delegate(), "Yes, the delegate may search. Once it was said: the role is abolished.")
    assert (found.correct, found.stale, found.note) == (True, False, "")


def test_a_refusal_is_wrong_and_neither_stale_nor_invented() -> None:
    """A-51, A-52: the three marks are independent."""
    found = marks(question(reference="No. It was refused.", must_contain=("refused",), stale=("old",)), "I cannot say.")
    assert (found.correct, found.stale, found.invented) == (False, False, False)


def test_a_superseded_value_in_a_wrong_answer_is_stale() -> None:
    """The reason names it."""
    found = marks(question(must_contain=("8",), stale=("at most 7",)), "At most 7.")
    assert (found.correct, found.stale) == (False, True)
    assert found.note == "does not hold what the key demands; superseded: at most 7"


def test_a_yes_to_what_was_refused_is_invented() -> None:
    """The reference says no; so does a key that says what must not be said."""
    assert marks(question(reference="No. It was refused.", must_contain=("refused",)), "Yes: refused.").invented
    assert marks(question(must_not_contain=("courier",)), "Ask the courier.").invented


def test_what_the_key_cannot_say_is_not_graded() -> None:
    """No demands, no stale value, nothing forbidden: None three times, never no."""
    found = marks(question(must_contain=()), "yes")
    assert (found.correct, found.stale, found.invented) == (None, None, None)


@pytest.mark.parametrize(
    "text", ["No.", "**No.** It", "no, but", "No \u2014 it", " - No: it", "_No_", "No!", "Nein, das"]
)
def test_these_open_with_no(text: str) -> None:
    """Emphasis, bullets and punctuation do not matter."""
    assert opening(text) == "no"


@pytest.mark.parametrize("text", ["No longer", "No document says", "No. 9 says", "No-one", "None", "North", "It: no."])
def test_these_do_not(text: str) -> None:
    """A no that is a part of the sentence, or of a number, claims nothing by itself."""
    assert opening(text) is None


def test_without_a_yes_or_no_in_the_reference_nothing_is_known() -> None:
    """The opening is held against the reference's, not against a guess."""
    assert not contradicts("No. It is 8.", "It is 8.")


def test_every_answer_of_the_plan_is_marked(tmp_path: Path) -> None:
    """Answered trials, all repetitions; a failed one and warm-up are not."""
    records = [record("a"), record("b", repetition=2), failed("c"), record("w", phase="warmup")]
    found = automatic.grade(read_run(tmp_path, records))
    assert (found.grader.name, sorted(trial for trial, _ in found.scores)) == ("precheck", ["a", "b"])
