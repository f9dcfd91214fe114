"""Windows of tokens: how many, where they lie, and that no character is lost or cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.corpus.chunking import check_sizes, chunks_of, windows
from loadrig.tokens import ByteEstimator, Estimator, estimator
from loadrig.words.errors import InputError

SIZES = st.integers(4, 12).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))
TEXTS = st.text(alphabet="ab \nßжポ👩\u0301", max_size=120)
DISTINCT = st.lists(st.characters(codec="utf-8"), unique=True, max_size=80).map("".join)  # find() is unambiguous


def test_windows_begin_every_350_tokens() -> None:
    """1,000 tokens in windows of 400 with 50 in common: three, the last one ending at the end."""
    assert windows(1000, size=400, overlap=50) == [(0, 400), (350, 750), (700, 1000)]


@pytest.mark.parametrize(("tokens", "count"), [(1, 1), (50, 1), (400, 1), (401, 2), (750, 2), (751, 3), (1100, 3)])
def test_the_number_of_windows_is_that_of_the_formula(tokens: int, count: int) -> None:
    """max(1, ceil((n - 50) / 350)), checked at its borders."""
    assert len(windows(tokens, size=400, overlap=50)) == count


@given(st.integers(1, 500), SIZES)
def test_windows_cover_all_tokens_and_overlap_as_stated(tokens: int, sizes: tuple[int, int]) -> None:
    """Each window but the last is full, shares exactly `overlap` tokens with the next, and the last reaches the end."""
    size, overlap = sizes
    cut = windows(tokens, size=size, overlap=overlap)
    assert cut[0][0] == 0
    assert cut[-1][1] == tokens
    assert all(end - begin == size for begin, end in cut[:-1])
    assert all(end - begin == overlap for (_, end), (begin, _) in pairwise(cut))


@given(DISTINCT, SIZES, st.sampled_from([estimator(), ByteEstimator()]))
def test_every_character_is_in_a_chunk_and_none_is_cut(text: str, sizes: tuple[int, int], by: Estimator) -> None:
    """Chunks are pieces of the text in order, none empty, each beginning where or before the one before it ended."""
    size, overlap = sizes
    _, chunks = chunks_of("d", text, by, size=size, overlap=overlap)
    reached = 0
    for chunk in chunks:
        begin = text.find(chunk.text)
        assert 0 <= begin <= reached
        assert chunk.text or not text
        reached = begin + len(chunk.text)
    assert reached == len(text)


@given(TEXTS, st.integers(4, 12), st.sampled_from([estimator(), ByteEstimator()]))
def test_chunks_without_overlap_join_to_the_text(text: str, size: int, by: Estimator) -> None:
    """With overlap 0 nothing is lost, repeated or altered."""
    tokens, chunks = chunks_of("d", text, by, size=size, overlap=0)
    assert "".join(chunk.text for chunk in chunks) == text
    assert sum(chunk.tokens for chunk in chunks) == tokens


def test_a_border_inside_a_character_moves_back_to_its_start() -> None:
    """Six characters of three bytes, windows of 16 bytes: the border lies in the sixth character."""
    _, chunks = chunks_of("d", "ポンプポンプ", ByteEstimator(), size=4, overlap=0)
    assert [(chunk.id, chunk.text, chunk.tokens) for chunk in chunks] == [("d#0", "ポンプポン", 4), ("d#1", "プ", 1)]


@pytest.mark.parametrize(("size", "overlap"), [(400, 400), (400, 401), (400, -1), (3, 0), (0, 0)])
def test_sizes_that_cannot_advance_are_refused(size: int, overlap: int) -> None:
    """An overlap as large as the window, a negative one, or a window smaller than a character is wrong input."""
    with pytest.raises(InputError, match="chunk_"):
        check_sizes(size, overlap)
