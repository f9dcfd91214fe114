"""Slices made for so many tokens: nested, and what questions need first."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.corpus.slicing import beginning, row_of, write_slice
from loadrig.words.corpus import Document, Question
from loadrig.words.errors import InputError

DOCUMENTS = [Document(name, "text", tokens) for name, tokens in zip("abcdefgh", (5, 9, 3, 7, 8, 2, 6, 4), strict=True)]
QUESTIONS = [Question("q1", "x", "?", "!", gold=("a", "b", "c", "d")), Question("q2", "x", "?", "!", gold=("e",))]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5))
def test_smaller_slices_lie_in_larger_ones(one: int, other: int, seed: int) -> None:
    """For any two sizes and any seed; no slice holds more than its tokens."""
    row = row_of(DOCUMENTS, QUESTIONS, seed)
    small, large = (beginning(row, tokens) for tokens in sorted((one, other)))
    assert set(small) <= set(large)
    assert sum(document.tokens for document in small) <= min(one, other)


def test_questions_come_first_those_with_few_documents_before() -> None:
    """The one document of q2, the four of q1, then the others, all of them once."""
    row = [document.id for document in row_of(DOCUMENTS, QUESTIONS, 7)]
    assert row[:5] == ["e", "a", "b", "c", "d"]
    assert sorted(row) == list("abcdefgh")


def test_the_rest_hangs_on_the_seed() -> None:
    """Distractors come in an order of their own for each seed."""
    assert len({tuple(row_of(DOCUMENTS, QUESTIONS, seed)) for seed in range(20)}) > 3


def test_a_slice_joins_those_that_are_there(tmp_path: Path) -> None:
    """Another name is added, the same name replaced; what others wrote stays."""
    path = tmp_path / "slices.json"
    path.write_text('{"full": {"docs": "all", "note": "x"}}')
    write_slice(tmp_path, "small", DOCUMENTS[:3], 7)
    write_slice(tmp_path, "small", DOCUMENTS[:2], 7)
    assert msgspec.json.decode(path.read_bytes()) == {
        "full": {"docs": "all", "note": "x"},
        "small": {"docs": ["a", "b"], "tokens": 14, "seed": 7},
    }


def test_a_broken_file_of_slices_is_not_written_over(tmp_path: Path) -> None:
    """It is named, and stays as it is."""
    (tmp_path / "slices.json").write_text("{")
    with pytest.raises(InputError, match="not a file of slices"):
        write_slice(tmp_path, "small", DOCUMENTS, 7)
    assert (tmp_path / "slices.json").read_text() == "{"


def test_a_file_of_slices_may_begin_with_a_mark(tmp_path: Path) -> None:
    """As editors put one there; reading a slice lets it pass too."""
    (tmp_path / "slices.json").write_bytes(b'\xef\xbb\xbf{"full": {"docs": "all"}}')
    write_slice(tmp_path, "small", DOCUMENTS[:1], 7)
    assert msgspec.json.decode((tmp_path / "slices.json").read_bytes()).keys() == {"full", "small"}
