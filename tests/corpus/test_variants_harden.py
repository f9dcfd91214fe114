"""Hardened corpora: same facts, and neither names nor order nor the last mention give them away."""

from __future__ import annotations

import re
from dataclasses import replace

import harbour
import pytest

from loadrig.corpus.oracles import last_mention, mentions_of
from loadrig.corpus.variants.edition import Edition, read_edition
from loadrig.corpus.variants.harden import Hardened, harden
from loadrig.measures.recall import squeezed
from loadrig.words.errors import InputError

OURS = ("harbour", "huskbook", "ottilane")


@pytest.fixture(scope="module", params=OURS)
def pair(request: pytest.FixtureRequest) -> tuple[Edition, Hardened]:
    name = request.param
    before = harbour.edition() if name == "harbour" else read_edition(f"corpora/{name}", f"questions/{name}.jsonl")
    return before, harden(before, 7)


def texts_of(edition: Edition) -> dict[str, str]:
    """The texts by id, in order of their true dates."""
    texts = {paper.entry.id: squeezed(paper.text) for paper in edition.papers}
    return {dated.id: texts[dated.id] for dated in edition.ledger.documents}


def test_names_tell_nothing(pair: tuple[Edition, Hardened]) -> None:
    """Seven consonants, in the manifest sorted, and another order than that of time; no date, no figure in a title."""
    papers = pair[1].edition.papers
    in_time = [dated.id for dated in pair[1].edition.ledger.documents]
    assert all(re.fullmatch(r"docs/[bcdfghjkmnpqrstvwxz]{7}\.md", paper.entry.file) for paper in papers)
    assert [paper.entry.id for paper in papers] == sorted(in_time)
    assert sorted(in_time) not in (in_time, in_time[::-1])
    assert all(paper.entry.date is None and not re.search(r"\d", paper.entry.title or "") for paper in papers)


def test_no_paper_cites_a_number(pair: tuple[Edition, Hardened]) -> None:
    """`minutes no. 5` has become the date of these minutes, in headings too."""
    for text in (*texts_of(pair[1].edition).values(), *(line["reference"] for line in pair[1].edition.questions)):
        assert not re.search(r"\bnos?\. ?\d", text)


def test_every_quote_is_still_word_for_word(pair: tuple[Edition, Hardened]) -> None:
    """Of states, refusals and questions alike, under the new ids."""
    texts = texts_of(pair[1].edition)
    ledger = pair[1].edition.ledger
    states = [(state.doc, state.quote) for fact in ledger.facts for state in fact.states]
    refusals = [(one.refused.doc, one.refused.quote) for one in ledger.refusals]
    evidence = [(item["doc"], item["quote"]) for q in pair[1].edition.questions for item in q.get("evidence", ())]
    assert [pair for pair in states + refusals + evidence if squeezed(pair[1]) not in texts[pair[0]]] == []


def test_what_is_added_stands_behind_the_old_text(pair: tuple[Edition, Hardened]) -> None:
    """Up to its appendix a paper is the old one but for citations: taking dates and numbers out leaves the same."""

    number, day = r"nos?\. \d+(?: and \d+)?", r"of \d+ \w+ \d{4}(?: and of \d+ \w+ \d{4})?"
    citation = re.compile(rf"(?:the )?(?i:minutes|change order) (?:{number}|{day})")
    old = [citation.sub("...", text) for text in texts_of(pair[0]).values()]
    new = [citation.sub("...", text) for text in texts_of(pair[1].edition).values()]
    assert [one for one, other in zip(old, new, strict=True) if not other.startswith(one)] == []


def test_the_last_mention_misleads(pair: tuple[Edition, Hardened]) -> None:
    """Whoever takes the newest document that mentions something has every changed fact wrong."""
    ledger, texts = pair[1].edition.ledger, {doc: text.casefold() for doc, text in texts_of(pair[1].edition).items()}
    changed = [fact for fact in ledger.facts if len(fact.states) > 1]
    assert [fact.id for fact in changed if last_mention(mentions_of(fact, texts)) == fact.states[-1].value] == []
    assert pair[1].requotes.left_out == ()
    assert any(one.into == pair[0].ledger.documents[-1].id for one in pair[1].requotes.placed)


def test_no_document_speaks_of_a_new_topic(pair: tuple[Edition, Hardened]) -> None:
    """Answers counted from what documents are silent about stay right."""
    texts = texts_of(pair[1].edition)
    for topic in pair[1].edition.ledger.topics:
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, topic.words))})(?!\w)", re.IGNORECASE)
        assert sorted(topic.docs) == sorted(doc for doc, text in texts.items() if pattern.search(text)), topic.id


def test_the_key_moves_along() -> None:
    """Ids in gold, amending, evidence and derivation, the citation in the reference; the rest of a line stays."""
    made = harden(harbour.edition(), 7).edition
    new = {old: dated.id for old, dated in zip(harbour.IDS, made.ledger.documents, strict=True)}
    first, second, _ = made.questions
    assert first["gold"] == [new[harbour.IDS[0]], new[harbour.IDS[1]], new[harbour.IDS[3]]]
    assert first["reference"] == "12 days, as decided in the minutes of 18 February 2030."
    assert (first["amending"], first["evidence"][0]["doc"]) == ([new[harbour.IDS[3]]], new[harbour.IDS[3]])
    assert second["derivation"] == {"topic": "ropes", "mentioned": False, "docs": [new[harbour.IDS[3]]]}
    assert (first["subtype"], first["fact"], first["stale"]) == ("value", ["stay"], ["14 days", "10 days"])


def test_another_seed_is_another_corpus() -> None:
    """Ids and wording hang on the seed, and on it alone."""
    one, again, other = (harden(harbour.edition(), seed).edition for seed in (7, 7, 8))
    assert one == again
    assert {p.entry.id for p in one.papers}.isdisjoint(p.entry.id for p in other.papers)


def test_only_originals_in_english_are_hardened() -> None:
    """Twice would requote requotes; dates are written in English."""
    for ledger in (replace(harbour.LEDGER, variant="hardened"), replace(harbour.LEDGER, language="de")):
        with pytest.raises(InputError, match="cannot harden"):
            harden(replace(harbour.edition(), ledger=ledger), 7)
