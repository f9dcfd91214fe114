"""`loadrig corpus stats`: what it prints, each count under its name, and every file accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadrig.commands import corpus


def test_counts_are_printed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Twelve documents of our corpus are adopted, and it says so in these words."""
    corpus.stats("corpora/huskbook", None)
    assert "adopted: 12 " in capsys.readouterr().out


def test_files_that_are_no_texts_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two .pdf files and a picture beside one text: not read, and counted by their suffix; a hidden file is not."""
    for name in ("a.md", "sub/b.pdf", "c.PDF", "d.png", ".hidden.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    corpus.stats(str(tmp_path), None)
    shown = capsys.readouterr().out
    assert ".pdf: 2" in shown
    assert ".png: 1" in shown


def test_a_listed_document_is_no_other_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A manifest makes a document of any suffix; itself is neither document nor other file."""
    (tmp_path / "a.rst").write_text("text")
    (tmp_path / "manifest.jsonl").write_text('{"id": "a", "file": "a.rst"}\n')
    corpus.stats(str(tmp_path), None)
    shown = capsys.readouterr().out
    assert ".rst" not in shown
    assert ".jsonl" not in shown
