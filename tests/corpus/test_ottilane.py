"""The questions on Ottilane keep what its read-me says of them; the rules of `corpus check` do the rest."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from loadrig.corpus.checks import Report, check
from loadrig.corpus.dating import dates_in
from loadrig.corpus.rules.keyline import Derived, KeyLine
from loadrig.corpus.rules.subject import Subject, prepare
from loadrig.graders.precheck import passes

ROOT = Path(__file__).parents[2]
HOME = ROOT / "corpora" / "ottilane"
KEY = ROOT / "questions" / "ottilane.jsonl"


@pytest.fixture(scope="module")
def subject() -> Subject:
    return prepare(str(HOME), str(KEY), passes)


@pytest.fixture(scope="module")
def report(subject: Subject) -> Report:
    return check(subject)


def of(subject: Subject, category: str) -> list[KeyLine]:
    return [line for line in subject.key if line.question.category == category]


def test_the_check_finds_nothing(report: Report) -> None:
    """No rule on the papers, the ledger or the key is broken, and every question names something of the project."""
    assert report.findings == []
    assert "project named" not in [rule for rule, _ in report.notes]


def test_a_hundred_and_eighteen_questions(subject: Subject) -> None:
    """Six categories, a quarter of all on what was decided anew."""
    assert Counter(line.question.category for line in subject.key) == {
        "simple_fact": 18,
        "paraphrase": 18,
        "aggregation": 18,
        "supersession": 30,
        "negative_trap": 18,
        "multi_hop": 16,
    }


def test_the_first_twenty_are_mixed(subject: Subject) -> None:
    """A run of a few questions has some of every category, as the file takes turns."""
    assert Counter(line.question.category for line in subject.key[:20]) == {
        "simple_fact": 3,
        "paraphrase": 3,
        "aggregation": 3,
        "supersession": 5,
        "negative_trap": 3,
        "multi_hop": 3,
    }


def test_existence_outweighs_value(subject: Subject) -> None:
    """Two of three questions on supersession ask whether there is a thing at all, not how much of it."""
    asked = Counter(line.subtype for line in of(subject, "supersession"))
    assert asked == {"existence": 20, "value": 10}


def test_every_fact_that_changed_is_asked_for_once_or_twice(subject: Subject) -> None:
    """24 facts, each the subject of a question on supersession of its own, six of them from two sides."""
    changing = {fact.id for fact in subject.ledger.facts if len(fact.states) > 1}
    asked = Counter(fact for line in of(subject, "supersession") for fact in line.facts)
    assert set(asked) == changing
    assert Counter(asked.values()) == {1: 18, 2: 6}


def test_answers_about_every_paper_are_counted(subject: Subject) -> None:
    """Eight rest on a topic and all 22 papers, six of them on what papers do not mention."""
    derived = [line.derivation for line in subject.key if isinstance(line.derivation, Derived)]
    assert Counter(one.mentioned for one in derived) == {False: 6, True: 2}
    assert len({one.topic for one in derived}) == 8


def test_traps_are_of_four_kinds(subject: Subject) -> None:
    """Each of the five refused wishes has a trap; others presuppose what was removed, proposed only, or never was."""
    traps = of(subject, "negative_trap")
    assert Counter(line.subtype for line in traps) == {"refused": 6, "removed": 5, "proposed": 5, "never": 2}
    assert {line.refusal for line in traps if line.refusal} == {refusal.id for refusal in subject.ledger.refusals}


def test_every_paper_is_needed(subject: Subject) -> None:
    """Lists apart, each of the 22 papers is gold to three questions or more: none is padding."""
    gold = Counter(doc for line in subject.key for doc in line.question.gold if len(line.question.gold) < 10)
    assert min(gold[doc] for doc in subject.own) >= 3


def test_no_question_leads_to_a_paper(subject: Subject) -> None:
    """No question names a paper's id, number, paragraph or date; five name a day on which there is no paper."""
    named = []
    for line in subject.key:
        asked = line.question.question
        assert not re.search(r"no\. \d|paragraph|slip \d|\d{4}-\d\d", asked), line.question.id
        named += [day for _, day in dates_in(asked)]
    assert sorted(named) == ["2031-12-15", "2031-12-24", "2032-01-20", "2032-01-20", "2032-03-01"]
    assert not set(named) & {document.date for document in subject.ledger.documents}


def test_the_canary_stands_in_the_read_me(subject: Subject) -> None:
    """One random token marks the corpus, in the oldest paper alone and in the read-me."""
    tokens = [re.findall(r"ottilane-[0-9a-f]{24}", document.text) for document in subject.corpus.documents]
    assert list(itertools.chain(*tokens)) == [subject.ledger.canary]
    assert subject.ledger.canary in (HOME / "README.md").read_text("utf-8")
