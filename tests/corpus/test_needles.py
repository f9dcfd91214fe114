"""Probes planted in a corpus: where they lie, that their truth holds, and that nothing else answers."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from loadrig import corpus as corpora
from loadrig.corpus.needles.haystack import built
from loadrig.corpus.needles.planted import Needle, Planted, figure
from loadrig.corpus.needles.reworded import PAIRS, usable
from loadrig.corpus.needles.sheets import DEEP
from loadrig.corpus.needles.whole import KINDS, NAMES, Made, Wish, check_alone, made
from loadrig.corpus.wording import content_words
from loadrig.graders.precheck import passes
from loadrig.tokens import estimator
from loadrig.words.corpus import Corpus, Document
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings

TOKENS = 16_000


@cache
def source() -> Corpus:
    return corpora.load(CorpusSettings(path="corpora/ottilane"))


@cache
def probes(seed: int = 7) -> Made:
    return made(source(), Wish(TOKENS, 3, seed=seed), estimator())


def of(kind: str, found: Made | None = None) -> list[dict[str, Any]]:
    return [line for line in (found or probes()).questions if line["category"] == kind]


def text_of(line: dict[str, Any]) -> str:
    texts = {document.id: document.text for document in probes().documents}
    return "\n".join(texts[doc] for doc in line["gold"])


def test_the_haystack_has_the_length_that_is_deployed() -> None:
    """B-05: at most so many tokens, nine tenths at least, as counted in the finished texts."""
    counted = sum(estimator().count(document.text) for document in probes().documents)
    assert counted == probes().tokens
    assert 0.9 * TOKENS <= counted <= 1.01 * TOKENS  # blank lines round a needle are counted now


def test_every_kind_is_there_with_the_number_asked_for() -> None:
    """Three each; one row of forty agreements with two questions; other words as far as the corpus leaves them."""
    counts = Counter(line["category"] for line in probes().questions)
    assert set(counts) == set(NAMES)
    assert {counts[kind] for kind in KINDS if kind != "seventh_of_forty"} == {3}
    assert counts["seventh_of_forty"] == 2


def test_ids_follow_the_order_of_places_and_no_document_is_cut() -> None:
    """Sorted by id they lie as they were laid; each text of the corpus is there, but for paragraphs put in between."""
    ids = [document.id for document in probes().documents]
    assert ids == sorted(ids)
    whole = {document.id: document.text for document in source().documents}
    for document in probes().documents:
        name = document.id.partition("-")[2]
        own = next((text for one, text in whole.items() if one.startswith(name)), None)
        if own is not None:
            left = iter(re.split(r"\n[ \t]*\n", document.text))
            assert all(paragraph.strip() in map(str.strip, left) for paragraph in re.split(r"\n[ \t]*\n", own))


def test_single_facts_lie_early_in_the_middle_and_late() -> None:
    """Their depths are in the three bands in turn, measured in the finished texts."""
    for kind in ("single_needle", "twin", "multi_key"):
        depths = [line["depths"][0] for line in of(kind)]
        assert all(low <= depth <= high for depth, (low, high) in zip(depths, BANDS, strict=True)), (kind, depths)


BANDS = ((0.0, 0.1), (0.4, 0.6), (0.9, 1.0))


def test_depths_are_where_the_quotes_are() -> None:
    """Recounted: tokens before the middle of the quote, of all."""
    begins, at = {}, 0
    for document in probes().documents:
        begins[document.id] = at
        at += document.tokens
    texts = {document.id: document.text for document in probes().documents}
    for line in probes().questions:
        for quoted, depth in zip(line["evidence"], line["depths"], strict=False):
            before = texts[quoted["doc"]].partition(quoted["quote"])[0]
            tokens = begins[quoted["doc"]] + estimator().count(before) + estimator().count(quoted["quote"]) / 2
            assert tokens / at == pytest.approx(depth, abs=6e-5)


def test_the_answer_stands_in_gold_and_nowhere_else() -> None:
    """Every demanded phrase is in the gold documents, and no document beside them holds what is asked for."""
    for line in probes().questions:
        assert passes(text_of(line), line["must_contain"]), line["id"]
        if line["category"] in ("tracing", "common_words", "frequent_words", "multi_key"):
            continue  # their words stand in other needles of the same probe too
        rest = "\n".join(one.text for one in probes().documents if one.id not in line["gold"])
        assert not any(passes(rest, (one,)) for one in line["must_contain"]), line["id"]


def test_a_chain_is_followed_to_its_value() -> None:
    """By the sentences alone: from the vault asked for, over four hops in order of reading, to the seal demanded."""
    for line in of("chain"):
        assert all(a < b for a, b in pairwise(line["depths"]))
        links = dict(re.findall(r"The vault (\w+) holds the same seal as the vault (\w+)\.", text_of(line)))
        seals = dict(re.findall(r"The vault (\w+) holds the seal (\d+)\.", text_of(line)))
        vault, hops = re.findall(r"vault (\w+)", line["question"])[0], 0
        while vault in links:
            vault, hops = links[vault], hops + 1
        assert (hops, figure(seals[vault])) == (4, line["must_contain"][0])


def test_tracing_wants_every_name_that_the_value_went_to() -> None:
    """Five accounts in one book, followed forwards."""
    for line in of("tracing"):
        (book,) = re.findall(r"book (\d+)", line["question"])
        names = set(re.findall(rf"The account (\w+) is kept in book {book}\.", text_of(line)))
        for _ in range(4):
            pairs = re.findall(r"The account (\w+) is kept in the same book as the account (\w+)\.", text_of(line))
            names |= {name for name, before in pairs if before in names}
        assert names == set(line["must_contain"])
        assert len(names) == 5


def test_the_commonest_words_are_counted_over_all_sheets() -> None:
    """Counted anew from the texts: twelve times each, and no other more than twice."""
    for line in of("common_words"):
        assert len(line["gold"]) == 4
        counts = Counter(re.findall(r"^\d+\. (\w+)$", text_of(line), re.MULTILINE))
        assert {word for word, _ in counts.most_common(3)} == set(line["must_contain"])
        assert [count for _, count in counts.most_common(4)] == [12, 12, 12, 2]


def test_frequent_words_are_those_behind_the_noise() -> None:
    """50 / n^2 for n from 2 on: 12, 6 and 3 times, then 2; the noise 50 times."""
    for line in of("frequent_words"):
        counts = Counter(re.findall(r"^\d+\. (\S+)$", text_of(line), re.MULTILINE))
        assert counts.pop("....") == 50
        assert [count for _, count in counts.most_common(4)] == [12, 6, 3, 2]
        assert [word for word, _ in counts.most_common(3)] == line["must_contain"]


def test_forty_agreements_of_which_the_seventh_and_number_17_are_asked_for() -> None:
    """B-17: forty caps and three sentences like one of them; one stands seventh, number 17 at 77.5 %."""
    whole = "\n".join(document.text for document in probes().documents)
    row = re.findall(r"Agreement no\. (\d+) with (\w+), exhibit C: liability ends at (\d+) crowns\.", whole)
    seventh, deep = of("seventh_of_forty")
    assert sorted(int(number) for number, _, _ in row) == list(range(1, 41))
    assert (seventh["subtype"], deep["subtype"]) == ("seventh", "deep")
    assert figure(row[6][2]) == seventh["must_contain"][0]
    assert figure(next(cap for number, _, cap in row if number == "17")) == deep["must_contain"][0]
    assert deep["depths"][0] == pytest.approx(DEEP, abs=0.03)
    party = next(name for number, name, _ in row if number == "17")
    assert len(re.findall(rf"\b{party}\b", whole)) == 4


def test_a_twin_is_a_fifth_of_the_context_away() -> None:
    """Its sentence differs in one word and the figure."""
    for line in of("twin"):
        quote = line["evidence"][0]["quote"]
        name = next(word for word in re.findall(r"\b[A-Z]\w+", quote) if word != "The")
        lying = [
            (document.begin + estimator().count(document.text[: found.start()])) / probes().tokens
            for document in probes().documents
            for found in re.finditer(rf"[^\n]*\b{name}\b[^\n]*", document.text)
        ]
        assert len(lying) == 2
        assert abs(lying[0] - lying[1]) >= 0.2


def test_facts_in_other_words_share_no_content_word_with_their_question() -> None:
    """Of all twelve pairs, by the stems that overlap is measured by; each gives its own words away to nobody else."""
    for pair in PAIRS:
        assert not content_words(pair.asked, "en") & content_words(pair.said.format(name="Zorvan Kelm"), "en")
    others = [other.said for pair in PAIRS for other in PAIRS if other is not pair for told in pair.told
              if re.search(rf"\b{told}", other.said, re.IGNORECASE)]  # fmt: skip
    assert others == []


def test_a_pair_of_which_the_corpus_speaks_itself_is_not_asked() -> None:
    """A corpus with a beekeeper in it would have two."""
    assert len(usable(["Nothing of the kind."])) == len(PAIRS)
    left = usable(["Her hives stood in the sun.", "He was no Luthier."])
    assert len(left) == len(PAIRS) - 2


def test_what_tells_of_a_pair_stands_in_its_own_sentence_alone() -> None:
    """Of the pairs that were asked: no text and no other needle speaks of it."""
    lines = {line["question"]: line["evidence"][0]["quote"] for line in of("low_overlap")}
    whole = "\n".join(document.text for document in probes().documents)
    assert len(lines) >= 2
    for pair in (pair for pair in PAIRS if pair.asked in lines):
        told = re.compile(rf"\b(?:{'|'.join(pair.told)})", re.IGNORECASE)
        assert told.findall(whole) == told.findall(lines[pair.asked])


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    """Questions, texts and depths."""
    assert made(source(), Wish(TOKENS, 3), estimator()) == probes()
    assert probes(8).questions != probes().questions


def test_a_corpus_that_is_too_small_is_refused() -> None:
    """No shorter haystack in silence."""
    with pytest.raises(InputError, match="64,000 tokens are wanted"):
        made(source(), Wish(64_000, 3), estimator())


def test_a_haystack_that_names_what_a_probe_is_about_is_refused() -> None:
    """A name of a needle that a document has too, whatever its case: it might answer or contradict."""
    probe = Planted((Needle("The lifeboat Zorvan is number 123456.", 0.5),), (), ("Zorvan", "123456"))
    for text, is_alone in (("Nothing.", True), ("A ZORVAN was seen.", False), ("Zorvanish ways.", True)):
        haystack = built([Document("a", text, 10)], probe.needles, estimator())
        if is_alone:
            check_alone([probe], haystack)
        else:
            with pytest.raises(InputError, match="'Zorvan' stands 2 times in the haystack and 1 times"):
                check_alone([probe], haystack)


def test_needles_that_came_to_lie_elsewhere_are_counted() -> None:
    """A text of one line has one border, its end: a fact that was to lie early and one in the middle lie there too."""
    text = "word " * 3000
    one = Document("a", text, estimator().count(text))
    found = made(Corpus("c", (one,), (), (), "", ""), Wish(one.tokens + 60, 2, ("single_needle",)), estimator())
    assert [line["depths"][0] > 0.9 for line in found.questions] == [True, True]
    assert [note[:39] for note in found.notes] == ["2 needles lie more than 5% of the conte"]


def test_an_unknown_kind_is_named() -> None:
    """With those that there are."""
    with pytest.raises(InputError, match="no kind of probe 'nedle'"):
        made(source(), Wish(TOKENS, 1, ("nedle",)), estimator())
