"""manifest.jsonl: it decides what is a document, and each of its faults is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from texts import loaded, rows

from loadrig.words.corpus import Document, Skipped
from loadrig.words.errors import InputError

A = {"id": "a", "file": "docs/a.txt"}


def test_only_listed_files_are_documents_and_the_rest_is_named(tmp_path: Path) -> None:
    """A licence beside the texts is counted as skipped; a line's fields reach the document, unknown ones do not."""
    entry = {**A, "title": "T", "date": "2026-03-01", "status": "Final", "access": ["staff"], "chars": 5}
    texts = loaded(tmp_path, {"manifest.jsonl": rows(entry), "docs/a.txt": "hello", "LICENCE.txt": "CC0"})
    assert texts.documents == (Document("a", "hello", 1, "T", "2026-03-01", "Final", ("staff",)),)
    assert texts.skipped == (Skipped("LICENCE.txt", "not in the manifest"),)


def test_a_mark_crlf_and_blank_lines_do_not_matter(tmp_path: Path) -> None:
    """A manifest saved by another editor reads the same."""
    manifest = b"\xef\xbb\xbf" + rows(A).strip().encode() + b"\r\n\r\n"
    assert len(loaded(tmp_path, {"manifest.jsonl": manifest, "docs/a.txt": "x"}).documents) == 1


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ({"id": "a", "file": "docs/b.txt"}, "id 'a' occurs twice, first in line 1"),
        ({"id": "b", "file": "docs/../docs/a.txt"}, "file 'docs/a.txt' occurs twice, first in line 1"),
        ({"id": "b", "file": "docs/c.txt"}, "no such file: docs/c.txt"),
        ({"id": "b", "file": "../b.txt"}, "file leads out of the corpus: ../b.txt"),
        ({"id": "b", "file": "/etc/hosts"}, "file leads out of the corpus: /etc/hosts"),
        ({"id": "b", "file": "docs"}, "no such file: docs"),
        ({"id": "b", "file": "docs/b.txt", "date": "1 March"}, "not an ISO date: '1 March'"),
        ({"id": "b", "file": "docs/b.txt", "date": "20260301"}, "not an ISO date: '20260301'"),
        ({"id": "b", "file": "docs/b.txt", "date": "2026-02-30"}, "not an ISO date: '2026-02-30'"),
        ({"id": " ", "file": "docs/b.txt"}, "empty id or file"),
        ({"id": "b"}, "missing field `file`"),
        ({"id": 5, "file": "docs/b.txt"}, "expected `str`, got `int` - at `$.id`"),
        ({"id": "b", "file": "docs/b.txt", "access": "staff"}, "expected `array`, got `str` - at `$.access`"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, second: dict[str, object], problem: str) -> None:
    """The error says what is wrong in which line."""
    with pytest.raises(InputError) as caught:
        loaded(tmp_path, {"manifest.jsonl": rows(A, second), "docs/a.txt": "x", "docs/b.txt": "y"})
    assert (caught.value.problem, caught.value.line) == (problem, 2)


def test_a_torn_line_is_an_error(tmp_path: Path) -> None:
    """A document must not vanish because the last line was cut."""
    with pytest.raises(InputError, match=r"manifest\.jsonl:2: not valid JSON"):
        loaded(tmp_path, {"manifest.jsonl": rows(A) + '{"id": "b", "fi', "docs/a.txt": "x"})


def test_a_listed_file_that_is_empty_is_skipped(tmp_path: Path) -> None:
    """It is in the manifest, but there is nothing to find in it: counted as skipped."""
    listed = rows(A, {"id": "b", "file": "b.txt"})
    assert loaded(tmp_path, {"manifest.jsonl": listed, "docs/a.txt": "x", "b.txt": "\n"}).skipped == (
        Skipped("b.txt", "empty"),
    )
