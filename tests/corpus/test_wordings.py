"""What tells two versions of a corpus apart: wording that only one of them has, wherever a passage is cut."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.corpus.wordings import Wordings, wordings
from loadrig.words.corpus import Corpus, Document, Question
from loadrig.words.errors import InputError


def corpus(**texts: str) -> Corpus:
    return Corpus("c", tuple(Document(name, text, 1) for name, text in texts.items()), (), (), "", "")


def told(before: Corpus, after: Corpus, question: str = "Which?") -> Wordings:
    return wordings(before, after, [Question("q", "c", question, "r")], path="p")


def test_one_word_is_told_by_every_four_that_hold_it() -> None:
    """The gate turns from green to red: three words on either side, and no more, belong to the wording."""
    found = told(
        corpus(a="We saw that the gate is green in the first days of May"),
        corpus(a="We saw that the gate is red in the first days of May"),
    )
    assert found.old == ("the gate is green in the first",)
    assert found.new == ("the gate is red in the first",)


def test_what_others_say_or_the_question_asks_tells_nothing() -> None:
    """`b` has said the new words all along, and a question says the old ones: a prompt may hold both in any version."""
    before = corpus(a="the gate is green now", b="they say the gate is red now")
    after = corpus(a="the gate is red now", b="they say the gate is red now")
    with pytest.raises(InputError, match="nothing of 4 words in a row"):
        told(before, after, "Is it true that the gate is green now and then?")


def test_line_breaks_tell_nothing() -> None:
    """The same words with other white space are the same wording; in a prompt, too."""
    with pytest.raises(InputError, match="tells the documents from what they were"):
        told(corpus(a="one two three four five"), corpus(a="one two\n\nthree four five"))
    found = Wordings(("one two three four",), ())
    assert found.held("so: one\ntwo   three four.") == (False, False)
    assert found.held("so: one\ntwo   three four end") == (True, False)


def test_what_comes_has_no_old_wording_and_what_goes_no_new() -> None:
    """One document comes, another goes: each has one side."""
    found = told(corpus(a="it goes away for good"), corpus(b="it comes here to stay"))
    assert found == Wordings(("it goes away for good",), ("it comes here to stay",))
    assert found.held("it comes here to stay") == (False, True)


def test_what_stays_is_not_held_in_memory() -> None:
    """A hundred documents of 500 words stay, one changes: 50,000 sequences would be 4 MB and more."""
    stays = {f"s{n}": " ".join(f"word{n}x{place}" for place in range(500)) for n in range(100)}
    before, after = corpus(a="the gate is green now", **stays), corpus(a="the gate is red now", **stays)
    tracemalloc.start()
    found = told(before, after)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.old, found.new) == (("the gate is green now",), ("the gate is red now",))
    assert peak_bytes < 1_000_000


words = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30).map(" ".join)


@given(words, words)
def test_the_wording_of_one_version_is_never_in_the_other(old: str, new: str) -> None:
    """Whatever the texts: the old text holds no new wording and the new one no old, and if there is any, its own."""
    try:
        found = told(corpus(a=old), corpus(a=new))
    except InputError:
        return
    assert found.held(old) == (bool(found.old), False)
    assert found.held(new) == (False, bool(found.new))
