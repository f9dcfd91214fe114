"""slices.json: a named part of a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from texts import loaded

from loadrig.words.errors import InputError

SLICES = '{"s64k": {"docs": ["b.txt"], "tokens": 1}, "full": {"docs": "all"}}'
FILES = {
    "a.txt": "x",
    "b.txt": "y",
    "slices.json": '{"s64k": {"docs": ["b.txt"], "tokens": 1}, "full": {"docs": "all"}}',
}


def test_a_slice_keeps_its_documents_and_names_those_outside(tmp_path: Path) -> None:
    """One of two documents is in; the other is outside, not skipped."""
    texts = loaded(tmp_path, FILES, slice="s64k")
    assert [document.id for document in texts.documents] == ["b.txt"]
    assert (texts.outside, texts.skipped) == (("a.txt",), ())


def test_all_is_the_whole_corpus(tmp_path: Path) -> None:
    """A slice may say "all"; nothing is outside then."""
    assert len(loaded(tmp_path, FILES, slice="full").documents) == 2


@pytest.mark.parametrize(
    ("slices", "problem"),
    [
        (SLICES, r"no slice 's64'\n  remedy: did you mean 's64k'\?"),
        ('{"s64": {"docs": ["c.txt"]}}', "names a document that the corpus does not have: 'c.txt'"),
        ('{"s64": {"docs": []}}', "slice 's64' has no documents"),
        ('{"s64": {"docs": 5}}', "not a file of slices"),
        ("{", "not a file of slices"),
    ],
)
def test_a_wrong_slice_is_named(tmp_path: Path, slices: str, problem: str) -> None:
    """An unknown slice, an unknown document or a broken file is wrong input with a remedy."""
    with pytest.raises(InputError, match=problem):
        loaded(tmp_path, {**FILES, "slices.json": slices}, slice="s64")


def test_a_slice_of_a_corpus_without_slices_is_refused(tmp_path: Path) -> None:
    """The error says that there is no file of slices."""
    with pytest.raises(InputError, match=r"there is no slices\.json"):
        loaded(tmp_path, {"a.txt": "x"}, slice="s64")
