"""Measures of answers on the little corpus of the lantern: every rule with a case that hits and one that does not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from ledgered import KEY, World
from records import record

from loadrig.corpus import load
from loadrig.corpus.facts import Facts, Known, facts_of
from loadrig.corpus.ledger import read_ledger
from loadrig.graders import automatic
from loadrig.graders.opening import contradicts
from loadrig.graders.precheck import passes
from loadrig.measures import OF_ANSWER, answer_measure
from loadrig.measures.citing import misplaced_dates
from loadrig.measures.context import Context
from loadrig.words.corpus import Question
from loadrig.words.settings import CorpusSettings

QUESTIONS = {row["id"]: msgspec.convert(row, Question) for row in KEY}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Known:
    folder, _ = World().write(tmp_path_factory.mktemp("lantern"))
    return Known(facts_of(load(CorpusSettings(path=folder)), read_ledger(Path(folder))))


def context(question: str, answer: str, known: Known | None = None, *, had: bool | None = None) -> Context:
    key = QUESTIONS[question]
    found = automatic.marks(key, answer)
    return Context(
        key, known, found.correct, passes(answer, key.must_contain), contradicts(answer, key.reference), found.stale,
        found.invented, had,
    )  # fmt: skip


@pytest.mark.parametrize("name", OF_ANSWER)
def test_every_measure_of_answers_keeps_the_contract(name: str, known: Known) -> None:
    """A listed measure carries its own name and a unit, and has no value, not 0, for a trial that was not run."""
    listed = answer_measure(name)
    nothing = record("t", outcome="not_run", reason="stopped", answer="")
    assert name == listed.NAME
    assert listed.UNIT
    assert listed.value(nothing, Context(QUESTIONS["burn"], known)) is None


CASES = [
    # A date that stands nowhere; dates of the corpus, however written; one that the question or reference holds.
    ("dates_fabricated", "burn", "12 hours, since 6 March 2031.", 1),
    ("dates_fabricated", "burn", "12 hours: 6 March 2031, 06.03.2031 and March 7.", 3),
    ("dates_fabricated", "burn", "12 hours: 5 March 2031, 05.03.2031, March 5 and in March 2031.", 0),
    ("dates_cited", "burn", "12 hours [02-march], since 5 March 2031, decided on March 5.", 2),
    # A date of the corpus that the document cited with it does not hold.
    ("dates_misplaced", "burn", "12 hours, since 9 April 2031 [02-march].", 1),
    ("dates_misplaced", "burn", "It was decided on 9 April 2031. [02-march]", 1),
    ("dates_misplaced", "burn", "12 hours, since 5 March 2031 [02-march]. Bell: 9 April 2031 [03-april].", 0),
    ("dates_misplaced", "burn", "12 hours since 6 March 2031 [02-march].", 0),  # fabricated, not misplaced
    ("dates_misplaced", "burn", "Minutes no. 2 of 5 March 2031 say so.", 1),  # no. 2 is of April
    # Ids and numbers that do not exist.
    ("ids_fabricated", "burn", "12 hours [04-may].", 1),
    ("ids_fabricated", "burn", "12 hours, see 07-march.", 1),
    ("ids_fabricated", "burn", "12 hours, see minutes no. 3.", 1),
    ("ids_fabricated", "burn", "12 hours [02-march], see minutes no. 2, 24-hour watch, 16-May.", 0),
    ("ids_cited", "burn", "12 hours [02-march; 01-base.md], `03-april#0`.", 3),
    # Claims of recency.
    ("recency_wrong", "burn", "By the most recent minutes (dated 5 March 2031) 12 hours.", 1),
    ("recency_wrong", "burn", "Based on the latest meeting (March), 12 hours.", 1),
    ("recency_wrong", "burn", "02-march is the most recent document.", 1),
    ("recency_wrong", "burn", "By the most recent minutes, no. 2 of 9 April, 12 hours.", 0),
    ("recency_wrong", "burn", "Laut dem neuesten Protokoll vom 5. März 2031 brennt sie 12 Stunden.", 1),
    ("recency_wrong", "burn", "Laut dem jüngsten Protokoll (9. April 2031) brennt sie 12 Stunden.", 0),
    ("recency_claims", "burn", "By the most recent minutes (9 April 2031) 12 hours.", 1),
    ("recency_claims", "burn", "The most recent document that mentions hours is 02-march.", 0),
    ("recency_claims", "burn", "02-march is the most recent document about burning.", 0),
    ("ill_sourced", "burn", "12 hours, since 6 March 2031.", 1),
    ("ill_sourced", "burn", "12 hours, since 5 March 2031 [02-march].", 0),
    # A superseded value without the current one; history is not stale.
    ("stale", "burn", "It burns for 9 hours.", 1),
    ("stale", "burn", "12 hours; at first it was 9 hours.", 0),
    ("invented", "climb", "Fifty steps.", 1),
    ("invented", "climb", "Forty steps.", 0),
    # A trap taken for true; a denial, and a refusal to say, are not.
    ("trap_taken", "trap", "It leaves at dusk.", 1),
    ("trap_taken", "trap", "Never: that was refused.", 0),
    ("trap_taken", "trap", "The documents do not say.", 0),
    # The opening against the facts that follow.
    ("opening", "bell", "No, the bell was taken off. It came back for fog only.", 1),
    ("opening", "bell", "Yes, but for fog only.", 0),
    ("opening", "bell", "No, there is none.", 0),
    # Loud or silent, of what is not right.
    ("loud", "burn", "The documents do not say how long.", 1),
    ("loud", "burn", "It burns for 9 hours.", 0),
    ("silent", "burn", "It burns for 9 hours.", 1),
    ("silent_cited", "burn", "It burns for 9 hours [01-base].", 1),
    ("silent_cited", "burn", "It burns for 9 hours.", 0),
    ("declined", "burn", "I cannot say.", 1),
    ("declined", "burn", "12 hours. The documents do not say since when.", 0),
]


@pytest.mark.parametrize(("name", "question", "answer", "expected"), CASES)
def test_a_rule_hits_what_it_must_and_nothing_else(
    name: str, question: str, answer: str, expected: float, known: Known
) -> None:
    """The value of one measure for one answer, read by hand."""
    assert answer_measure(name).value(record("t", answer=answer), context(question, answer, known)) == expected


def test_right_answers_have_neither_miss_nor_failure(known: Known) -> None:
    """What is right is no miss and no failure: no value, so that shares are of the wrong ones."""
    right, of = record("t", answer="12 hours."), context("burn", "12 hours.", known, had=True)
    for name in ("retrieval_miss", "reading_miss", "loud", "silent", "silent_cited"):
        assert answer_measure(name).value(right, of) is None


@pytest.mark.parametrize(("had", "expected"), [(False, (1, 0)), (True, (0, 1)), (None, (None, None))])
def test_a_wrong_answer_is_a_miss_of_retrieval_or_of_reading(had: bool | None, expected: tuple[float, float]) -> None:
    """By whether what the key rests on stood before the model; not known is neither."""
    wrong, of = record("t", answer="9 hours."), context("burn", "9 hours.", had=had)
    values = tuple(answer_measure(name).value(wrong, of) for name in ("retrieval_miss", "reading_miss"))
    assert values == expected


def test_a_refusal_of_the_model_is_loud() -> None:
    """Though it has no text."""
    refused = record("t", outcome="unanswered", reason="refused", answer="")
    found = [answer_measure(name).value(refused, Context(QUESTIONS["burn"])) for name in ("loud", "silent", "declined")]
    assert found == [1, 0, 1]


def test_without_facts_nothing_is_said_of_dates_and_ids() -> None:
    """Not known is never 0."""
    answer = "12 hours since 6 March 2031 [09-may]."
    names = ("dates_cited", "dates_fabricated", "dates_misplaced", "ids_cited", "ids_fabricated", "recency_claims",
             "recency_wrong", "ill_sourced")  # fmt: skip
    assert {answer_measure(name).value(record("t", answer=answer), context("burn", answer)) for name in names} == {None}


def test_an_id_of_letters_alone_is_told_by_its_mark() -> None:
    """`[zzzzzzz]` is cited and is not there; the same letters in running text may be a word."""
    known = Known(facts_of_ids("mrdxfmj", "tgpnnnm"))
    value = answer_measure("ids_fabricated").value
    cases = {"9 [zzzzzzz].": 1, "9 [mrdxfmj, zzzzzzz].": 1, 'document "zzzzzzz"': 1, "the documents clearly say": 0,
             "9 [mrdxfmj].": 0}  # fmt: skip
    found = {text: value(record("t", answer=text), context("burn", text, known)) for text in cases}
    assert found == cases


def test_a_date_of_the_key_and_a_document_outside_of_the_slice_are_not_misplaced() -> None:
    """What the question says may stand beside any document, and of one that was left out nothing is known."""
    known = Known((Facts("a-1", "2031-02-03"), Facts("b-2", "2031-03-05"), Facts("c-3", own=False, outside=True)))
    key = "How did it stand on 3 February 2031?"
    assert misplaced_dates("On 3 February 2031 [b-2] so.", key, known) == []
    assert misplaced_dates("On 3 February 2031 [c-3] so.", "", known) == []
    assert misplaced_dates("On 3 February 2031 [b-2] so.", "", known) == [("b-2", "3 February 2031")]


def facts_of_ids(*names: str) -> tuple[Facts, ...]:
    return tuple(Facts(name) for name in names)
