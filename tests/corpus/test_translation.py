"""The German Huskbook says what the original says: same facts, figures and questions, in more tokens and chunks."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from loadrig.commands import corpus as command
from loadrig.corpus import load
from loadrig.corpus.jsonl import read_rows
from loadrig.corpus.ledger import Ledger, read_ledger
from loadrig.graders.precheck import hits
from loadrig.words.corpus import Corpus
from loadrig.words.settings import CorpusSettings

ROOT = Path(__file__).parents[2]
FIELDS = ("id", "category", "subtype", "fact", "refusal", "must_not_contain")


def corpus_of(name: str) -> Corpus:
    return load(CorpusSettings(path=str(ROOT / "corpora" / name)))


def ledger_of(name: str) -> Ledger:
    found = read_ledger(ROOT / "corpora" / name)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def pairs() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each question in English and in German."""
    english, german = (
        [line for _, line in read_rows(ROOT / "questions" / f"{name}.jsonl", dict[str, Any], remedy="a question")]
        for name in ("huskbook", "huskbook-de")
    )
    return list(zip(english, german, strict=True))


def german_id(document: str) -> str:
    return document.replace("minutes", "protokoll").replace("requirements", "lastenheft")


def numbers(text: str, thousands: str) -> Counter[str]:
    """How often each number stands there in digits, without the mark between its thousands."""
    return Counter(re.findall(r"\d+", re.sub(rf"(?<=\d){re.escape(thousands)}(?=\d{{3}}(?!\d))", "", text)))


def test_the_check_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Quotes, keys, histories and topics of the translation hold to all that the rules want."""
    folder, key = ROOT / "corpora" / "huskbook-de", ROOT / "questions" / "huskbook-de.jsonl"
    assert command.check(str(folder), str(key), None) == 0
    assert " 0 findings" in capsys.readouterr().out


def test_it_says_that_it_is_a_translation_into_german() -> None:
    """Variant and language are told, and the canary is the original's."""
    english, german = ledger_of("huskbook"), ledger_of("huskbook-de")
    assert (german.variant, german.language) == ("translated", "de")
    assert german.canary == english.canary


def test_facts_have_the_same_states() -> None:
    """Ids, shapes, patterns and, state by state, value, day and paper are those of the original."""

    def told(ledger: Ledger) -> list[tuple[Any, ...]]:
        states = [[(state.value, state.date, german_id(state.doc)) for state in fact.states] for fact in ledger.facts]
        return [(fact.id, fact.shape, fact.pattern, at) for fact, at in zip(ledger.facts, states, strict=True)]

    assert told(ledger_of("huskbook-de")) == told(ledger_of("huskbook"))


def test_topics_stand_in_the_same_papers() -> None:
    """What a paper speaks of, it speaks of in German."""
    english = {topic.id: tuple(map(german_id, topic.docs)) for topic in ledger_of("huskbook").topics}
    assert {topic.id: topic.docs for topic in ledger_of("huskbook-de").topics} == english


def test_papers_hold_the_same_numbers() -> None:
    """Each number in digits stands in the translated paper as often as in the original one, and the days agree."""
    german = {document.id: document for document in corpus_of("huskbook-de").documents}
    for document in corpus_of("huskbook").documents:
        other = german.pop(german_id(document.id))
        assert other.date == document.date
        assert numbers(other.text, ".") == numbers(document.text, ","), document.id
    assert german == {}


def test_questions_are_the_same(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """In the same order, with the same ids, categories, facts and papers, so that answers can be paired."""
    for english, german in pairs:
        assert [german.get(name) for name in FIELDS] == [english.get(name) for name in FIELDS]
        for name in ("gold", "amending"):
            assert german[name] == [german_id(doc) for doc in english[name]], english["id"]
        assert [one["doc"] for one in german["evidence"]] == [german_id(one["doc"]) for one in english["evidence"]]


def test_answers_hold_the_same_numbers(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """A number in digits in a question or reference is there in both languages."""
    for english, german in pairs:
        for name in ("question", "reference"):
            assert numbers(german[name], ".") == numbers(english[name], ","), english["id"]


def test_keys_take_numbers_in_both_forms(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """What the original's key takes in digits, the German one takes too: 148,600, 2034-05-16, 16/05/2034, 07:30."""
    for english, german in pairs:
        for wanted, entry in zip(english["must_contain"], german["must_contain"], strict=True):
            for form in wanted.split("||"):
                if re.fullmatch(r"\d[\d,.:/ -]*\d", form):
                    assert hits(form, entry), (english["id"], form)


def test_the_read_me_states_the_growth() -> None:
    """Tokens and chunks at 400 with 50 of overlap, and by how much they grow, are those measured here."""
    english, german = corpus_of("huskbook"), corpus_of("huskbook-de")
    assert english.estimator == german.estimator == "o200k_base"
    stated = (ROOT / "corpora" / "huskbook-de" / "README.md").read_text("utf-8")
    for old, new in ((english.tokens, german.tokens), (len(english.chunks), len(german.chunks))):
        assert f"| {old:,} | {new:,} | {new / old - 1:+.1%}".replace("%", " % |") in stated
