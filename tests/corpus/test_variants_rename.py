"""Renamed corpora: other names everywhere, and nothing else."""

from __future__ import annotations

import random
import re

import harbour
import msgspec
import pytest

from loadrig.corpus.variants.edition import Edition, read_edition
from loadrig.corpus.variants.naming import Names, all_words, changing_words, invented, ordinary_words, with_cases
from loadrig.corpus.variants.rename import new_names, rename
from loadrig.graders.precheck import passes


@pytest.fixture(scope="module", params=["harbour", "huskbook", "ottilane"])
def pair(request: pytest.FixtureRequest) -> tuple[Edition, Edition]:
    name = request.param
    before = harbour.edition() if name == "harbour" else read_edition(f"corpora/{name}", f"questions/{name}.jsonl")
    return before, rename(before, 7)


def everything(edition: Edition) -> str:
    """All of an edition as one text."""
    return "\n".join([*(paper.text for paper in edition.papers), msgspec.json.encode(edition).decode()])


def test_no_old_name_is_left(pair: tuple[Edition, Edition]) -> None:
    """In no paper, title, id, question, key or ledger, the canary's lower case included."""
    text = everything(pair[1]).casefold()
    for name in pair[0].ledger.names:
        assert not re.search(rf"(?<![^\W_]){re.escape(name.name.casefold())}(?![^\W_])", text), name.name


def test_all_but_the_names_stays(pair: tuple[Edition, Edition]) -> None:
    """Giving the old names back gives the old papers and questions back."""
    words = new_names(pair[0], 7).words
    back = Names({new: old for old, new in words.items()})
    assert [back.of(paper.text) for paper in pair[1].papers] == [paper.text for paper in pair[0].papers]
    assert [back.of(q["question"]) for q in pair[1].questions] == [q["question"] for q in pair[0].questions]


def test_references_pass_their_own_key(pair: tuple[Edition, Edition]) -> None:
    """Names in a reference and in its pre-check change alike."""
    assert [q["id"] for q in pair[1].questions if not passes(q["reference"], q["must_contain"])] == []


def test_one_person_stays_one_person() -> None:
    """Full name, first name and family name change alike, before an apostrophe too; ordinary words stay."""
    names = new_names(harbour.edition(), 7)
    first, last = names.words["Odwin"], names.words["Farrel"]
    assert names.of("Odwin Farrel took Odwin's boat") == f"{first} {last} took {first}'s boat"
    assert (first[0], last[0]) == ("O", "F")
    assert names.of("Kestrin Harbour Board").endswith(" Harbour Board")


def test_words_of_a_name_that_change() -> None:
    """Those that are names by themselves; else no ordinary words; else all. Of persons neither titles nor initials."""
    ordinary = ordinary_words(["the old mill"])
    names = [name for name in harbour.LEDGER.names if name.name.startswith("Kestrin")]
    names += [harbour.Name("Zeller Mill", "place"), harbour.Name("Old Mill", "place")]
    names += [harbour.Name("Captain Odwin Old", "person"), harbour.Name("O. Farrel", "person")]
    assert changing_words(names, ordinary) == {
        "Kestrin Harbour Board": ["Kestrin"],
        "Kestrin": ["Kestrin"],
        "Zeller Mill": ["Zeller"],
        "Old Mill": ["Old", "Mill"],
        "Captain Odwin Old": ["Odwin"],
        "O. Farrel": ["Farrel"],
    }


def test_invented_words_are_new() -> None:
    """A thousand words like one of five letters: all different, none a word of the texts, same first letter."""
    taken = all_words(["Oriel and others"])
    words = {invented("Oriel", taken, random.Random(n)) for n in range(1000)}
    assert len(words) == 1000
    assert all(word.istitle() and word[0] == "O" for word in words)
    assert "Oriel" not in words


def test_lower_case_changes_where_it_is_no_ordinary_word() -> None:
    """`merrowby-1` does, `marl` the soil does not beside Marl the place."""
    names = Names(with_cases({"Merrowby": "Molbane", "Marl": "Mursk"}, {"marl"}))
    assert names.of("merrowby-1 MERROWBY marl Marl") == "molbane-1 MOLBANE marl Mursk"
