"""The corpora and keys that come with loadrig keep their promises: dates, quotes, histories, keys that can fail."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from loadrig import questions as question_files
from loadrig.corpus import load
from loadrig.corpus.jsonl import read_rows
from loadrig.corpus.ledger import Asked, Fact, Ledger, read_ledger
from loadrig.graders.precheck import passes
from loadrig.words.corpus import Corpus, Question
from loadrig.words.settings import CorpusSettings, QuestionSettings

ROOT = Path(__file__).parents[2]
HOME = ROOT / "corpora" / "huskbook"
REFUSALS = (
    "",
    "I don't know.",
    "I cannot answer this from the documents I was given.",
    "The documents do not say. There is no information about this, so no answer can be given.",
    "None of the provided documents mention this, and I would not want to guess.",
)
STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by does do for from has have how if in into is it its may must not of on one or should "
        "so some somebody that the their them they this to until what which who with without",
    )
)


@dataclass(frozen=True)
class Derivation:
    """An answer counted over all documents: those that mention a topic, or those that do not."""

    topic: str
    mentioned: bool
    docs: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """The part of a question's line that only these tests read."""

    id: str
    category: str
    question: str
    subtype: str | None = None
    fact: tuple[str, ...] = ()
    derivation: Derivation | None = None
    refusal: str | None = None


def corpus_of(name: str) -> Corpus:
    return load(CorpusSettings(path=str(ROOT / "corpora" / name)))


def key_of(name: str, corpus: Corpus) -> tuple[Question, ...]:
    return question_files.load(QuestionSettings(path=str(ROOT / "questions" / f"{name}.jsonl")), corpus)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_of("huskbook")


@pytest.fixture(scope="module")
def texts(corpus: Corpus) -> dict[str, str]:
    return {document.id: flat(document.text) for document in corpus.documents}


@pytest.fixture(scope="module")
def key(corpus: Corpus) -> tuple[Question, ...]:
    return key_of("huskbook", corpus)


@pytest.fixture(scope="module")
def kinds() -> list[Kind]:
    return [kind for _, kind in read_rows(ROOT / "questions" / "huskbook.jsonl", Kind, remedy="a question")]


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    found = read_ledger(HOME)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def by_shape(ledger: Ledger) -> dict[str, list[list[str]]]:
    shapes: dict[str, list[list[str]]] = {}
    for fact in ledger.facts:
        shapes.setdefault(fact.pattern, []).append([state.value.split(": ")[0] for state in fact.states])
    return shapes


def flat(text: str) -> str:
    return " ".join(text.split())


def changing(ledger: Ledger) -> list[Fact]:
    """The facts that were decided anew at least once."""
    return [fact for fact in ledger.facts if len(fact.states) > 1]


def words(text: str) -> set[str]:
    """Content words, cut to five letters as a crude stem."""
    return {word[:5] for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in STOP}


def mentions(text: str, found: Iterable[str]) -> bool:
    """Whether one of the words stands in the text as a whole word."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in found)


def likeness(one: str, other: str) -> float:
    """Jaccard index of two paragraphs' content words, 0 to 1."""
    return len(words(one) & words(other)) / len(words(one) | words(other))


# The documents


def test_twelve_documents_of_the_intended_size(corpus: Corpus) -> None:
    """One base document and eleven sets of minutes hold 11,537 tokens, give or take a tenth."""
    assert len(corpus.documents) == 12
    assert corpus.estimator == "o200k_base"
    assert 10_384 <= corpus.tokens <= 12_690


def test_dates_rise_over_five_months(corpus: Corpus) -> None:
    """The base comes first, each set of minutes later than the one before, the last about five months on."""
    days = [date.fromisoformat(document.date or "") for document in corpus.documents]
    assert all(earlier < later for earlier, later in itertools.pairwise(days))
    assert 145 <= (days[-1] - days[0]).days <= 160


def test_each_document_names_its_own_date(corpus: Corpus) -> None:
    """The manifest's date also stands near the top of the text and in the file name's order."""
    for document in corpus.documents:
        day = date.fromisoformat(document.date or "")
        assert f"{day.day} {day:%B %Y}" in document.text[:300]
    assert [document.id for document in corpus.documents] == sorted(document.id for document in corpus.documents)


def test_minutes_cite_only_earlier_minutes(corpus: Corpus) -> None:
    """`minutes no. 3` in the minutes of a later meeting only, so a reference can be followed back."""
    for number, document in enumerate(corpus.documents):
        body = document.text.split("\n", 1)[1]
        assert all(int(cited) < number for cited in re.findall(r"minutes no\. (\d+)", body, re.IGNORECASE))


def test_the_canary_stands_in_the_base_and_in_the_read_me(corpus: Corpus) -> None:
    """One random token marks the corpus, so its presence elsewhere can be searched for."""
    found = [
        re.findall(r"^Canary: (huskbook-[0-9a-f]{24})$", document.text, re.MULTILINE) for document in corpus.documents
    ]
    assert [len(tokens) for tokens in found] == [1] + [0] * 11
    assert found[0][0] in (HOME / "README.md").read_text("utf-8")


# The histories of the facts


def test_every_state_stands_word_for_word_in_its_document(
    ledger: Ledger, corpus: Corpus, texts: dict[str, str]
) -> None:
    """A state's quote occurs in the document it names, at that document's date, in order of time."""
    dates = {document.id: document.date for document in corpus.documents}
    for fact in ledger.facts:
        assert all(state.quote in texts[state.doc] and state.date == dates[state.doc] for state in fact.states), fact.id
        assert [state.date for state in fact.states] == sorted(state.date for state in fact.states), fact.id


def test_a_state_is_said_in_one_document_only(ledger: Ledger, texts: dict[str, str]) -> None:
    """No document repeats the decision of another in its words."""
    for state in (state for fact in ledger.facts for state in fact.states):
        assert sum(state.quote in text for text in texts.values()) == 1, state.quote


def test_one_value_is_reversed_and_reversed_again(by_shape: dict[str, list[list[str]]]) -> None:
    """A, B, A over three documents: a number, and something forbidden, allowed and forbidden again."""
    assert by_shape["reversal"] == [["21", "35", "21"], ["no", "yes", "no"]]


def test_values_are_amended(by_shape: dict[str, list[list[str]]]) -> None:
    """Three values change in a single step, two in two."""
    assert by_shape["amendment"] == [
        ["200", "120"],
        ["85", "80", "82"],
        ["2034-09-04", "2034-10-02", "2034-09-18"],
        ["07:30", "16:15"],
        ["counted", "by weight with a hundred-seed sample; peas and beans counted"],
    ]


def test_things_are_abolished_and_come_back_narrower(by_shape: dict[str, list[list[str]]], ledger: Ledger) -> None:
    """Yes, no, yes, with less than at first."""
    assert by_shape["narrowed"] == [["yes", "no", "yes"]] * 6
    assert by_shape["reinstated"] == [["yes", "no", "yes"]]
    assert by_shape["abolished"] == [["yes", "no"]]
    delegate = next(fact for fact in ledger.facts if fact.id == "growers-delegate")
    assert (delegate.states[0].value, delegate.states[2].value) == (
        "yes: search, requests, shelf positions",
        "yes: search, requests",
    )


def test_things_are_created_and_removed_unbuilt(by_shape: dict[str, list[list[str]]]) -> None:
    """No, yes, no; the courier role was never even asked for before it was created."""
    assert by_shape["unbuilt"] == [["yes", "no"], ["no", "yes", "no"], ["yes", "no"]]


def test_a_third_and_more_of_the_facts_never_change(by_shape: dict[str, list[list[str]]]) -> None:
    """Not every question about a thing is about its history: 25 facts have one state."""
    assert [len(states) for states in by_shape["stable"]] == [1] * 25


def test_no_document_holds_the_final_state(ledger: Ledger, texts: dict[str, str]) -> None:
    """The words that give a final value away stand in its document alone; no document holds more than four of 18."""
    held = {
        fact.id: [doc for doc, text in texts.items() if all(w in text for w in fact.final)] for fact in changing(ledger)
    }
    assert held == {fact.id: [fact.states[-1].doc] for fact in changing(ledger)}
    assert len(held) == 18
    assert max(Counter(doc for (doc,) in held.values()).values()) == 4


def test_refusals_read_like_approvals(ledger: Ledger, corpus: Corpus) -> None:
    """Of all paragraphs a refusal is nearest to its approved twin, at 40 % of common words or more."""
    paragraphs = [part for document in corpus.documents for part in document.text.split("\n") if len(part.split()) > 25]
    assert len(ledger.refusals) == 3
    for refusal in ledger.refusals:
        refused, approved = paragraph_of(corpus, refusal.refused), paragraph_of(corpus, refusal.resembles)
        assert "the request is refused" in refused
        assert "the request is approved" in approved
        assert max((part for part in paragraphs if part != refused), key=lambda p: likeness(refused, p)) == approved
        assert likeness(refused, approved) >= 0.4


def test_only_three_requests_were_refused(corpus: Corpus) -> None:
    """No other paragraph refuses anything, so the list of refusals is complete."""
    text = "\n".join(document.text for document in corpus.documents)
    assert len(re.findall("refuse|reject|declin|turned? down", text, re.IGNORECASE)) == 3


def test_five_papers_are_silent_about_the_cards(corpus: Corpus) -> None:
    """The counting question's answer, from the texts themselves."""
    silent = [
        d.date for d in corpus.documents if not re.search(r"\bcard|typ(ed|ing|ist)|migrat", d.text, re.IGNORECASE)
    ]
    assert silent == ["2034-02-21", "2034-03-21", "2034-04-04", "2034-05-16", "2034-06-08"]


def paragraph_of(corpus: Corpus, asked: Asked) -> str:
    """The paragraph that decides a request, with the section head that numbers it."""
    text = next(document.text for document in corpus.documents if document.id == asked.doc)
    section = text[text.index(f"Request {asked.request}: ") :].split("\n## ")[0]
    return next(part for part in section.split("\n") if "Decision: the request is" in part)


# The key


def test_a_hundred_and_ten_questions_in_six_categories(kinds: list[Kind]) -> None:
    """A fifth of them on supersession, of these sixteen on existence and six on values."""
    assert Counter(kind.category for kind in kinds) == {
        "simple_fact": 20,
        "paraphrase": 18,
        "aggregation": 20,
        "supersession": 22,
        "negative_trap": 17,
        "multi_hop": 13,
    }
    asked = [kind for kind in kinds if kind.category == "supersession"]
    assert Counter(kind.subtype for kind in asked) == {"existence": 16, "value": 6}
    assert len({kind.question for kind in kinds}) == 110


def test_the_first_twenty_are_the_quickstarts(kinds: list[Kind]) -> None:
    """Seven on supersession, more on existence than on values, and three paraphrases."""
    plan = tomllib.loads((ROOT / "plans" / "quickstart.toml").read_text("utf-8"))
    first = kinds[: plan["questions"]["limit"]]
    assert Counter(kind.category for kind in first) == {
        "simple_fact": 5,
        "paraphrase": 3,
        "aggregation": 3,
        "supersession": 7,
        "negative_trap": 2,
    }
    asked = [kind for kind in first if kind.category == "supersession"]
    assert Counter(kind.subtype for kind in asked) == {"existence": 4, "value": 3}


def test_a_fact_is_asked_for_from_few_sides(kinds: list[Kind], ledger: Ledger) -> None:
    """Lists of things apart, no fact that changes is the key of more than three questions; each is of one."""
    sides = Counter(fact for kind in kinds if kind.category != "aggregation" for fact in kind.fact)
    asked = {fact.id: sides[fact.id] for fact in changing(ledger)}
    assert (min(asked.values()), max(asked.values())) == (1, 3)


@pytest.mark.parametrize("name", ["huskbook", "tiny"])
def test_every_quote_stands_inside_one_chunk(name: str) -> None:
    """Evidence comes from gold documents, word for word, and a retriever can return it whole."""
    corpus = corpus_of(name)
    chunks = [(chunk.document, flat(chunk.text)) for chunk in corpus.chunks]
    for question in key_of(name, corpus):
        for evidence in question.evidence:
            assert evidence.doc in question.gold, question.id
            assert any(doc == evidence.doc and evidence.quote in text for doc, text in chunks), evidence.quote


@pytest.mark.parametrize("name", ["huskbook", "tiny"])
def test_references_pass_their_own_key(name: str) -> None:
    """The reference answer contains what is demanded, and something is."""
    for question in key_of(name, corpus_of(name)):
        assert question.must_contain, question.id
        assert passes(question.reference, question.must_contain), question.id


@pytest.mark.parametrize("name", ["huskbook", "tiny"])
def test_every_question_has_gold(name: str) -> None:
    """Apart from its reference, so that what was never found differs from what was read wrongly."""
    assert [question.id for question in key_of(name, corpus_of(name)) if not question.gold] == []


@pytest.mark.parametrize("name", ["huskbook", "tiny"])
def test_refusals_and_echoes_do_not_pass(name: str) -> None:
    """Repeating the question, declining to answer, or both at once, meets no key."""
    for question in key_of(name, corpus_of(name)):
        for refusal in REFUSALS:
            assert not passes(refusal, question.must_contain), question.id
            assert not passes(f"{question.question} {refusal}", question.must_contain), question.id


def test_stale_answers_stand_in_the_corpus_and_do_not_pass(key: tuple[Question, ...], texts: dict[str, str]) -> None:
    """Each superseded value is verbatim in a gold document that does not amend, and is no right answer."""
    for question in key:
        for stale in question.stale:
            outdated = [doc for doc in question.gold if doc not in question.amending]
            assert any(stale in texts[doc] for doc in outdated), stale
            assert not passes(f"{question.question} {stale}.", question.must_contain), stale


def test_superseded_states_do_not_pass(key: tuple[Question, ...], kinds: list[Kind], ledger: Ledger) -> None:
    """An answer that quotes an overtaken state of its fact, and only that, fails; the state asked for is amending."""
    facts = {fact.id: fact for fact in ledger.facts}
    for question, kind in zip(key, kinds, strict=True):
        if question.category == "supersession":
            (held,) = (facts[fact] for fact in kind.fact)
            now = len(held.states) if "1 April" not in question.question else 2
            *overtaken, last = held.states[:now]
            assert question.amending == (last.doc,), question.id
            for state in overtaken:
                assert state.value == last.value or not passes(state.quote, question.must_contain), question.id


def test_supersession_questions_name_stale_and_amending(key: tuple[Question, ...]) -> None:
    """Without them stale answers could not be told from wrong ones, nor recall of amending documents be counted."""
    for question in key:
        assert bool(question.stale) == bool(question.amending) == (question.category == "supersession"), question.id
        assert set(question.amending) <= set(question.gold), question.id


def test_paraphrases_share_no_content_word_with_their_evidence(key: tuple[Question, ...]) -> None:
    """The words of the question are of no help to a lexical retriever."""
    asked = [question for question in key if question.category == "paraphrase"]
    assert [q.id for q in asked if words(q.question) & words(q.evidence[0].quote)] == []


def test_counted_answers_are_recomputed_from_the_texts(
    key: tuple[Question, ...], kinds: list[Kind], ledger: Ledger, texts: dict[str, str]
) -> None:
    """Eight answers rest on which papers mention a topic; the papers say the same, and all of them are gold."""
    topics = {topic.id: topic for topic in ledger.topics}
    counted = [(question, kind.derivation) for question, kind in zip(key, kinds, strict=True) if kind.derivation]
    for question, derivation in counted:
        topic = topics[derivation.topic]
        asked = [doc for doc, text in texts.items() if mentions(text, topic.words) == derivation.mentioned]
        assert list(derivation.docs) == asked, question.id
        assert question.gold == tuple(texts)
    assert len(counted) == 8


def test_topics_are_exact(ledger: Ledger, texts: dict[str, str]) -> None:
    """A topic's documents are those in which one of its words stands, and several papers are silent about each."""
    for topic in ledger.topics:
        assert topic.docs == tuple(doc for doc, text in texts.items() if mentions(text, topic.words)), topic.id
        assert len(topic.docs) <= 8, topic.id


def test_multi_hop_answers_need_two_documents(key: tuple[Question, ...]) -> None:
    """The quotes of one document alone, whichever it is, do not meet the key."""
    for question in key:
        if question.category == "multi_hop":
            quotes = {doc: [e.quote for e in question.evidence if e.doc == doc] for doc in question.gold}
            assert len(quotes) >= 2
            assert not any(passes(" ".join(said), question.must_contain) for said in quotes.values()), question.id


def test_traps_on_refusals_name_them(kinds: list[Kind], ledger: Ledger) -> None:
    """Each refused request has traps, and no line names a refusal that is none."""
    named = [kind.refusal for kind in kinds if kind.category == "negative_trap" and kind.refusal]
    assert set(named) == {refusal.id for refusal in ledger.refusals}
    assert len(named) == 5


def test_no_question_names_a_document(key: tuple[Question, ...]) -> None:
    """No id, minutes number, paragraph or paper's date in a question leads straight to its answer."""
    for question in key:
        asked = question.question.replace("1 April 2034", "")  # a day between two meetings
        assert not re.search(r"\d{4}|no\. \d|paragraph|-minutes|request \d", asked), question.id


def test_the_tiny_folder_needs_no_manifest() -> None:
    """Five texts in three folders, two suffixes, ids from their paths, a few hundred tokens."""
    corpus = corpus_of("tiny")
    assert [document.id for document in corpus.documents] == [
        "about.md",
        "tools/ladders.txt",
        "tools/shed-book.md",
        "trees/apples.md",
        "trees/plums.txt",
    ]
    assert 300 <= corpus.tokens <= 500
    assert len(key_of("tiny", corpus)) == 4
