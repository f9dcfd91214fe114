"""A hash of a built retriever: two with the same one hold the same index, whatever machine built them.

It runs over all that the retriever holds, in order: numbers and texts by value, arrays with type and shape, what is
compared without order (a set) sorted. Two indexes that answer alike may still differ in it: other library, other
numbers in the last place.
"""

from __future__ import annotations

import hashlib
import pickle
from array import array
from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass

import numpy as np


def fingerprint(retriever: object) -> str:
    """SHA-256 in hex."""
    digest = hashlib.sha256()
    for piece in _pieces(retriever, ()):
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()


def _pieces(value: object, within: tuple[int, ...]) -> Iterator[bytes]:
    match value:
        case str():
            yield b"text " + value.encode("utf-8", errors="surrogatepass")
        case bytes():
            yield b"bytes " + value
        case type():
            yield value.__qualname__.encode()
        case None | bool() | int() | float() | np.generic():
            yield repr(value).encode()
        case np.ndarray():
            yield f"{value.dtype} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        case array():
            yield value.typecode.encode() + value.tobytes()
        case _:
            parts = () if id(value) in within else tuple(_parts(value))  # a ring ends where it meets itself
            yield f"{type(value).__qualname__} {len(parts)}".encode()
            for part in parts:
                yield from _pieces(part, (*within, id(value)))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        for pair in value.items():
            yield from pair
    elif isinstance(value, Set):
        yield from sorted(value, key=repr)
    elif isinstance(value, list | tuple):
        yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name) for field in fields(value))
    elif hasattr(value, "__dict__"):
        yield from (part for pair in sorted(vars(value).items()) for part in pair)
    else:
        yield from _pickled(value)


def _pickled(value: object) -> Iterator[object]:
    """What a pickle would have of it: of a date, a number of another kind, a queue, what has slots. Nothing of what
    cannot be pickled (a lock that its holder leaves out)."""
    try:
        kept = value.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
    except TypeError:
        return
    if isinstance(kept, str):
        yield kept
        return
    _, arguments, state, items, pairs = (*kept, None, None, None)[:5]
    yield from (arguments, state, tuple(items or ()), tuple(pairs or ()))
