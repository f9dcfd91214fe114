"""What a run keeps of its corpus to check answers by."""

from __future__ import annotations

from pathlib import Path

import pytest
from ledgered import APRIL, BASE, MARCH, World, hardened
from texts import write

from loadrig.corpus import load
from loadrig.corpus.facts import NAME, Known, facts_of, holds, read_known
from loadrig.corpus.ledger import read_ledger
from loadrig.log import write_lines
from loadrig.words.corpus import Corpus, Document
from loadrig.words.errors import InputError
from loadrig.words.settings import CorpusSettings


def facts(world: World, root: Path) -> Known:
    folder, _ = world.write(root)
    return Known(facts_of(load(CorpusSettings(path=folder)), read_ledger(Path(folder))))


def test_documents_have_their_dates_and_numbers(tmp_path: Path) -> None:
    """Dates of the texts and of the manifest; the number that stands in the heading is the document's own."""
    found = facts(World(), tmp_path).by_id[APRIL]
    assert (found.date, found.dates, found.number, found.numbers) == (
        "2031-04-09", ("2031-04-09",), "minute 2", ("minute 1", "minute 2"),
    )  # fmt: skip


def test_true_dates_are_the_ledgers(tmp_path: Path) -> None:
    """A hardened manifest hides dates; the ledger tells which document is the newest."""
    assert [one.id for one in facts(hardened(), tmp_path).newest] == ["kzm"]


def test_the_newest_may_be_of_the_corpus_own_or_of_all(tmp_path: Path) -> None:
    """A later paper of another project does not make a claim about the corpus' own papers wrong."""
    world = World()
    world.manifest["x"] = {"file": "docs/x.md", "date": "2032-01-01", "access": ["crew"]}
    world.docs["x"] = "Of another tower.\n"
    assert [one.id for one in facts(world, tmp_path).newest] == [APRIL, "x"]


def test_documents_outside_of_the_slice_are_known_to_exist() -> None:
    """Nothing but their id is known of them."""
    corpus = Corpus("c", (Document("pep-0001", "", 0),), (), (), "", "o200k_base", outside=("pep-0484",))
    known = Known(facts_of(corpus, None))
    assert (known.by_id["pep-0484"].outside, "pep 484" in known.numbers) == (True, True)


def test_facts_are_read_back(tmp_path: Path) -> None:
    """What was written is what is read; a folder without the file has none."""
    assert read_known(tmp_path) is None
    known = facts(World(), tmp_path)
    write_lines(tmp_path / NAME, known.documents)
    read = read_known(tmp_path)
    assert read is not None
    assert [one.id for one in read.documents] == [BASE, MARCH, APRIL]
    assert read.documents == known.documents


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    """With a remedy, as every bad input."""
    write(tmp_path, {NAME: "{}\n"})
    with pytest.raises(InputError, match="not facts of documents"):
        read_known(tmp_path)


@pytest.mark.parametrize(
    ("held", "date", "expected"),
    [
        ("2031-03-05", "2031-03-05", True), ("2031-03-05", "--03-05", True), ("2031-03-05", "2031-03", True),
        ("--03-05", "2031-03-05", True), ("2031-03", "2031-03-05", False), ("2031-03-05", "2032-03-05", False),
    ],
)  # fmt: skip
def test_a_part_is_held_by_the_whole(held: str, date: str, expected: bool) -> None:
    """A day without its year, and a month, are parts; a month does not hold a day that nobody named."""
    assert holds([held], date) is expected
