"""A corpus in numbers."""

from __future__ import annotations

from pathlib import Path

from texts import loaded

from loadrig.corpus.checks import stats


def test_a_corpus_in_numbers(tmp_path: Path) -> None:
    """Two documents of one and three tokens, both undated, one empty file."""
    figures = stats(loaded(tmp_path, {"a.txt": "hello", "b.txt": "hello world hello", "c.txt": ""}))
    assert (figures.documents, figures.chunks, figures.undated, figures.tokens) == (2, 2, 2, 4)
    assert (figures.document_tokens_p50, figures.document_tokens_p90, figures.document_tokens_max) == (1, 3, 3)
    assert figures.skipped == {"empty": 1}
