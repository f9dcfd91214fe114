"""The default retriever: its formula, common words and part numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from texts import loaded

from loadrig import retrievers
from loadrig.retrievers import Material
from loadrig.retrievers.bm25 import Bm25
from loadrig.retrievers.part_numbers import codes_of
from loadrig.retrievers.words import words_of
from loadrig.words.errors import InputError


def found(folder: Path, texts: dict[str, str], query: str, name: str = "bm25") -> list[str]:
    retriever = retrievers.load(name)(loaded(folder, {f"{key}.txt": text for key, text in texts.items()}))
    return [hit.doc.removesuffix(".txt") for hit in retriever.search(query, 10, (), unit="chunk")]


def test_a_word_in_half_of_the_texts_still_finds_them(tmp_path: Path) -> None:
    """Two of four texts hold `reactor`: both are found, with scores above 0."""
    texts = {"a": "alpha reactor", "b": "beta reactor", "c": "gamma tank", "d": "delta tank"}
    assert found(tmp_path, texts, "reactor") == ["a", "b"]


def test_the_published_okapi_finds_nothing_by_such_a_word(tmp_path: Path) -> None:
    """BM25Okapi as published gives a word in half of the texts weight 0; that is why it is not the default."""
    texts = {"a": "alpha reactor", "b": "beta reactor", "c": "gamma tank", "d": "delta tank"}
    assert found(tmp_path, texts, "reactor", "bm25-okapi") == []


def test_the_score_is_that_of_the_formula(tmp_path: Path) -> None:
    """One of three texts of two words: idf ln(1 + 2.5 / 1.5), tf part 1 / (1 + 1.5); asked twice, it counts twice."""
    texts = {"a.txt": "alpha one", "b.txt": "beta two", "c.txt": "gamma three"}
    retriever = retrievers.load("bm25")(loaded(tmp_path, texts))
    once = math.log(1 + 2.5 / 1.5) / 2.5
    assert retriever.search("alpha", 1, (), unit="chunk")[0].score == pytest.approx(once, rel=1e-6)
    assert retriever.search("alpha Alpha", 1, (), unit="chunk")[0].score == pytest.approx(2 * once, rel=1e-6)


PARTS = {
    "exact": "Valve RX-0040 " + "with much other text around it " * 30,
    "apart": "0040 rx 0040 rx",
    "other": "Valve RX-0041",
    "longer": "Valve RX-0040-B",
    "single": "Box X 7",
}


@pytest.mark.parametrize("query", ["RX-0040", "rx-0040", "RX\u20110040"])
def test_the_exact_part_number_ranks_first(tmp_path: Path, query: str) -> None:
    """A long text with the exact form goes before a short one that repeats its parts; case and dash are free."""
    assert found(tmp_path, PARTS, query)[0] == "exact"


@pytest.mark.parametrize(
    "code", ["\u092a\u093e\u0920-2024", "2024-\u092a\u093e\u0920", "\u05e9\u05c1x-1", "A\u2011\u092a\u093e\u09201"]
)
def test_a_part_number_of_letters_with_marks_ranks_first(code: str, tmp_path: Path) -> None:
    """Devanagari, Hebrew with a point: a mark ends no word, so the code has the words of the text."""
    words = code.replace("-", " ").replace("\u2011", " ")
    texts = {"exact": f"{code} " + "with other text " * 30, "apart": f"{words} {words}", "other": "Valve RX-0040"}
    assert [words_of(one) for one in codes_of(code)] == [words_of(words)]
    assert found(tmp_path, texts, code) == ["exact", "apart"]


@pytest.mark.parametrize("query", ["RX-0040", "rx 0040", "0040"])
def test_a_part_number_is_found_however_it_is_written(tmp_path: Path, query: str) -> None:
    """With a dash, with a blank, or by its digits alone."""
    assert "exact" in found(tmp_path, PARTS, query)


def test_parts_of_one_character_are_not_dropped(tmp_path: Path) -> None:
    """`X 7` is found by `x` and by `7`."""
    assert found(tmp_path, PARTS, "x") == found(tmp_path, PARTS, "7") == ["single"]


def test_an_unknown_retriever_suggests_the_nearest() -> None:
    """The error is wrong input with a remedy."""
    with pytest.raises(InputError, match=r"no retriever 'bm52'\n  remedy: did you mean 'bm25'\?"):
        retrievers.load("bm52")


def options_find(folder: Path, query: str, **options: object) -> list[str]:
    """What `bm25` with these options finds among three texts, and with which scores."""
    texts = {"a.txt": "the pumps of the plant", "b.txt": "pump", "c.txt": "the valve of it"}
    index = Bm25(**options).build(Material(loaded(folder, texts)))  # type: ignore[arg-type]
    return [hit.doc for hit in index.search(query, 9, (), unit="document")]


def test_with_stems_a_word_is_found_in_any_of_its_forms(tmp_path: Path) -> None:
    """`pumping` finds `pump` and `pumps`, which without stems it does not."""
    assert options_find(tmp_path, "pumping") == []
    assert options_find(tmp_path, "pumping", stem=True) == ["b.txt", "a.txt"]


def test_without_stop_words_they_find_nothing(tmp_path: Path) -> None:
    """`the` finds two texts; left out, none, and a query that has other words goes by those."""
    assert options_find(tmp_path, "the") == ["c.txt", "a.txt"] or options_find(tmp_path, "the") == ["a.txt", "c.txt"]
    assert options_find(tmp_path, "the", stop_words=True) == []
    assert options_find(tmp_path, "the valve", stop_words=True) == ["c.txt"]


def test_stems_are_those_of_the_language(tmp_path: Path) -> None:
    """German `Bücher` finds `Buch`; by English rules it does not."""
    corpus = loaded(tmp_path, {"a.txt": "Das Buch", "b.txt": "Die Pumpe"})

    def found(**options: object) -> int:
        index = Bm25(stem=True, **options).build(Material(corpus))  # type: ignore[arg-type]
        return len(index.search("Bücher", 9, (), unit="chunk"))

    assert (found(language="german"), found()) == (1, 0)


def test_k1_and_b_are_those_of_the_options(tmp_path: Path) -> None:
    """k1 = 1, b = 0: the length does not count, so a word that stands twice among three has idf * 2 / 3."""
    corpus = loaded(tmp_path, {"a.txt": "alpha alpha one", "b.txt": "beta", "c.txt": "gamma"})
    (hit,) = Bm25(k1=1.0, b=0.0).build(Material(corpus)).search("alpha", 1, (), unit="chunk")
    assert hit.score == pytest.approx(math.log(1 + 2.5 / 1.5) * 2 / 3, rel=1e-6)


def test_a_part_number_keeps_its_place_with_stems_and_without_stop_words(tmp_path: Path) -> None:
    """The exact form ranks first, also where a part of it is a stop word or has a stem."""
    texts = {f"{key}.txt": text for key, text in PARTS.items()} | {"to.txt": "form to-2024", "no.txt": "2024 2024 to"}
    index = Bm25(stem=True, stop_words=True).build(Material(loaded(tmp_path, texts)))
    for query, first in (("RX-0040", "exact.txt"), ("to-2024", "to.txt")):
        assert index.search(query, 1, (), unit="document")[0].doc == first


@pytest.mark.parametrize("name", ["no.such.module:build", "loadrig.retrievers.bm25:nothing"])
def test_a_retriever_of_the_users_own_that_is_not_there_is_named(name: str) -> None:
    """A wrong module and a wrong attribute are both wrong input."""
    with pytest.raises(InputError, match="cannot be loaded"):
        retrievers.load(name)


def test_a_retriever_may_be_named_by_module_and_attribute(tmp_path: Path) -> None:
    """The table is a short cut for the same names."""
    corpus = loaded(tmp_path, {"a.txt": "alpha"})
    by_name, by_place = (retrievers.load(name)(corpus) for name in ("bm25", "loadrig.retrievers.bm25:Bm25"))
    assert by_name.search("alpha", 1, (), unit="chunk") == by_place.search("alpha", 1, (), unit="chunk") != ()
