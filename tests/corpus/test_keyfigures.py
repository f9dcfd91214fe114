"""A question file in numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ledgered import MARCH, World
from texts import rows, write

from loadrig.commands import corpus as command
from loadrig.corpus.keyfigures import KeyFigures, key_figures
from loadrig.corpus.rules.subject import Subject, prepare
from loadrig.graders.precheck import passes

ROPES = "Ropes hang dry"


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return prepare(*World().write(tmp_path), passes)


def test_questions_are_counted_by_category(subject: Subject) -> None:
    """Two on supersession with two and three gold papers of one chunk each: 2.5 of both."""
    rows = {row.category: row for row in key_figures(subject.key, subject.corpus, "en")}
    assert [(name, row.questions) for name, row in rows.items()] == [
        ("supersession", 2), ("paraphrase", 1), ("aggregation", 1), ("multi_hop", 1), ("negative_trap", 1), ("all", 6),
    ]  # fmt: skip
    supersession = rows["supersession"]
    assert (supersession.gold_documents_mean, supersession.gold_chunks_mean) == (2.5, 2.5)
    assert supersession.subtypes == {"value": 1, "existence": 1}


def test_overlap_is_that_of_the_nearest_quote(subject: Subject) -> None:
    """`Pellwick lantern carry bell weather` and `bell comes back fog`: one word of eight. No quotes, no figure."""
    rows = {row.category: row for row in key_figures(subject.key, subject.corpus, "en")}
    assert rows["supersession"].overlap_max == pytest.approx(1 / 8)
    assert rows["aggregation"] == KeyFigures("aggregation", 1, {"count": 1}, 3.0, 3.0, None, None)


def test_of_two_quotes_the_nearer_one_counts(tmp_path: Path) -> None:
    """One of them shares `Pellwick` alone and nothing else shares a word: one of the four words of both."""
    world = World()
    world.question("climb")["evidence"] += [{"doc": MARCH, "quote": "Pellwick group"}]
    subject = prepare(*world.write(tmp_path), passes)
    rows = {row.category: row for row in key_figures(subject.key, subject.corpus, "en")}
    assert rows["paraphrase"].overlap_max == pytest.approx(1 / 4)


def test_a_language_without_stop_words_has_no_overlap(subject: Subject) -> None:
    """Better no figure than one over `the` and `of`."""
    assert {row.overlap_max for row in key_figures(subject.key, subject.corpus, "sv")} == {None}


def test_stats_show_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a question file, a table by category stands below the corpus' own figures."""
    folder, key = World().write(tmp_path)
    command.stats(folder, None, questions=key)
    assert "negative_trap" in capsys.readouterr().out


def test_stats_show_each_figure_under_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """700 words are two chunks: one question needs 2 papers of 3 chunks, two need 1 of 1: 4 / 3 papers, 5 / 3 chunks.

    Words in common with `Ropes hang dry`: one of three, three of three, none.
    """
    row = {"category": "fact", "reference": "!", "gold": ["b.md"], "evidence": [{"doc": "b.md", "quote": ROPES}]}
    asked = ({"question": "Ropes?", "gold": ["a.md", "b.md"]}, {"question": "Hang ropes dry?"}, {"question": "Sea?"})
    key = rows(*({**row, "id": f"q{number}", **line} for number, line in enumerate(asked)))
    write(tmp_path, {"c/a.md": "sea " * 700, "c/b.md": ROPES, "key.jsonl": key})
    command.stats(str(tmp_path / "c"), None, questions=str(tmp_path / "key.jsonl"))
    lines = [[cell.strip() for cell in re.split("[┃│]", line)] for line in capsys.readouterr().out.splitlines()]
    heads, figures = (cells[1:7] for cells in lines if cells[1:2] in (["category"], ["fact"]))
    assert dict(zip(heads, figures, strict=True)) == {
        "category": "fact", "questions": "3", "gold documents": "1.3", "gold chunks": "1.7",
        "overlap p50": "0.33", "max": "1.00",
    }  # fmt: skip
