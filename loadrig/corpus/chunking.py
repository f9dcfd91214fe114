"""Cuts a text into overlapping windows of tokens.

Rules: windows of `size` tokens begin every `size - overlap` tokens; the last one ends where the text ends. A text of
n tokens gives max(1, ceil((n - overlap) / (size - overlap))) windows. A border that falls inside a character (one
character may be up to four tokens) moves back to the character's start, at both ends of a window alike: so windows
hold whole characters, miss none, and without overlap join to the text again.
"""

from __future__ import annotations

import numpy as np

from loadrig.tokens import Estimator
from loadrig.words.corpus import Chunk
from loadrig.words.errors import InputError

SMALLEST = 4  # tokens: the most that one character takes, so that no window is without one


def check_sizes(size: int, overlap: int) -> None:
    """Raises `InputError` when windows of `size` tokens with `overlap` would not advance or could be empty."""
    if size < SMALLEST:
        raise InputError(f"chunk_tokens = {size}", remedy=f"choose at least {SMALLEST}; 400 is usual")
    if not 0 <= overlap < size:
        raise InputError(
            f"chunk_overlap = {overlap} with chunk_tokens = {size}",
            remedy="choose an overlap from 0 to below chunk_tokens; 50 of 400 is usual",
        )


def windows(tokens: int, *, size: int, overlap: int) -> list[tuple[int, int]]:
    """Begin and end of each window, in tokens.

    >>> windows(1000, size=400, overlap=50)
    [(0, 400), (350, 750), (700, 1000)]
    """
    stride = size - overlap
    count = max(1, -(-(tokens - overlap) // stride))
    return [(at * stride, min(at * stride + size, tokens)) for at in range(count)]


def chunks_of(document: str, text: str, estimator: Estimator, *, size: int, overlap: int) -> tuple[int, list[Chunk]]:
    """The tokens of a text and its chunks, in order, numbered from 0."""
    tokens = estimator.encode(text)
    borders = _borders(text, estimator.byte_lengths(tokens))
    chunks = [
        Chunk(f"{document}#{number}", document, number, text[borders[begin] : borders[end]], end - begin)
        for number, (begin, end) in enumerate(windows(len(tokens), size=size, overlap=overlap))
    ]
    return len(tokens), chunks


def _borders(text: str, byte_lengths: list[int]) -> list[int]:
    """For each token the character in which it begins; then the end of the text."""
    data = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
    character_of_byte = np.cumsum((data & 0xC0) != 0x80) - 1
    first_bytes = np.cumsum([0, *byte_lengths])[:-1]
    return [*character_of_byte[first_bytes].tolist(), len(text)]
