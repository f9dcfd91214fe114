"""The library of a run: what comes out is what went in, and large arrays are in memory once a machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scripted_client import tiny

from loadrig.words.corpus import Hit
from loadrig.worker.library import ARRAYS, SHARED_BYTES, Texts, build_indexes, open_indexes, open_texts, save


@dataclass(frozen=True)
class Arrays:
    """A retriever that holds arrays."""

    arrays: tuple[np.ndarray, ...]

    def search(self, query: str, k: int, caller: tuple[str, ...], *, unit: str) -> tuple[Hit, ...]:
        return ()


def test_texts_and_indexes_come_back_as_they_were(tmp_path: Path) -> None:
    """The tiny corpus, and both retrievers over it: the same texts, and the same hits for each word of a question."""
    corpus = tiny()
    built, _ = build_indexes({"bm25", "bm25-okapi"}, corpus)
    save(tmp_path, Texts(corpus, {}), built)
    assert open_texts(tmp_path).corpus == corpus
    for word in re.findall(r"\w+", corpus.chunks[0].text):
        for name, opened in open_indexes(tmp_path).items():
            assert opened.search(word, 3, (), unit="chunk") == built[name].search(word, 3, (), unit="chunk")


@pytest.mark.parametrize("sizes", [(), (SHARED_BYTES,), (SHARED_BYTES + 1, 8, SHARED_BYTES + 64), (0, 8)])
def test_arrays_keep_their_values_whatever_their_size(sizes: tuple[int, ...], tmp_path: Path) -> None:
    """Large and small ones, of lengths that are no multiple of anything."""
    given = Arrays(tuple(np.arange(size, dtype=np.uint8) for size in sizes))
    save(tmp_path, Texts(tiny(), {}), {"a": given})
    opened = open_indexes(tmp_path)["a"]
    assert isinstance(opened, Arrays)
    assert all(np.array_equal(*pair) for pair in zip(opened.arrays, given.arrays, strict=True))


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "float32", "float64", "bool", "<U3", "i4,f8"])
def test_an_opened_array_is_of_numpys_own_type(kind: str, tmp_path: Path) -> None:
    """Not only of an equal one: numpy adds at indices thirty times as fast. Small and large, values as they were."""
    given = Arrays(tuple(np.zeros(size, dtype=kind) for size in (3, SHARED_BYTES)))
    save(tmp_path, Texts(tiny(), {}), {"a": given})
    opened = open_indexes(tmp_path)["a"]
    assert isinstance(opened, Arrays)
    for array, before in zip(opened.arrays, given.arrays, strict=True):
        assert array.dtype is before.dtype or "," in kind or "U" in kind
        assert array.dtype == before.dtype
        assert np.array_equal(array, before)


def test_a_large_array_is_a_mapped_file(tmp_path: Path) -> None:
    """Four megabytes: this process maps the file, which others map too, and cannot write to it."""
    save(tmp_path, Texts(tiny(), {}), {"a": Arrays((np.ones(1_000_000, dtype=np.int32),))})
    opened = open_indexes(tmp_path)["a"]
    assert isinstance(opened, Arrays)
    assert str(tmp_path / ARRAYS) in Path("/proc/self/maps").read_text()
    with pytest.raises(ValueError, match="read-only"):
        opened.arrays[0][0] = 2
    assert (tmp_path / ARRAYS).stat().st_size == 4_000_000
