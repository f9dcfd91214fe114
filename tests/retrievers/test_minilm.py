"""The packaged model: skipped, with what to install, where it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from texts import loaded

from loadrig.retrievers import load
from loadrig.retrievers.minilm import MiniLM, minilm
from loadrig.retrievers.vectors import VARIABLE
from loadrig.words.errors import InputError


@pytest.fixture(scope="module")
def model() -> MiniLM:
    """Loaded once."""
    try:
        return minilm(256)
    except InputError as error:
        pytest.skip(f"{error.problem}; {error.remedy}")


def test_a_vector_has_length_1_and_is_the_same_alone_and_beside_others(model: MiniLM) -> None:
    """384 numbers a text; a long neighbour changes none of them."""
    texts = ["The lighthouse is 43 metres tall.", "one " * 200, "soup"]
    together = model.embed(texts)
    assert together.shape == (3, 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)
    assert np.array_equal(together, np.concatenate([model.embed([text]) for text in texts]))


def test_a_text_is_cut_where_the_option_says(model: MiniLM) -> None:
    """What stands behind the 256th token changes nothing, what stands before it does."""
    long, other = "word " * 300, "lamp " * 50
    assert np.array_equal(*model.embed([long, long + other]))
    assert not np.array_equal(*model.embed([long, other + long]))


def test_it_finds_what_shares_no_word_with_the_question(
    model: MiniLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the words differ, bm25 finds nothing and dense the right text first."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    texts = {
        "hours.txt": "The café opens at nine and sells soup.",
        "height.txt": "From base to lamp the tower rises 43 metres above the bay.",
        "paint.txt": "Keepers whitewash their house every spring.",
    }
    corpus = loaded(tmp_path / "c", texts)
    query = "How tall is this lighthouse?"
    assert load("bm25")(corpus).search(query, 3, (), unit="document") == ()
    assert load("dense")(corpus).search(query, 3, (), unit="document")[0].doc == "height.txt"
