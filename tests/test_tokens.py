"""Token counts: estimates that work without a network and take every text as plain text."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.tokens import ENCODING, TABLE_NAME, ByteEstimator, Estimator, estimator

TEXTS = st.text(max_size=200)
# Nothing listens on port 9: whatever tries the network fails at once.
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
REPORT = (
    "import os; from loadrig.tokens import estimator; print(estimator().name, os.environ.get('TIKTOKEN_CACHE_DIR'))"
)


@pytest.fixture
def table() -> Estimator:
    if estimator().name != ENCODING:
        pytest.skip("no o200k_base table here: install the extra `offline`, or allow its download")
    return estimator()


def run(code: str, home: Path, **environment: str) -> str:
    """Output of a fresh interpreter that has no table cached, no network and its own home."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
    }
    variables = {**kept, **NO_NETWORK, "XDG_CACHE_HOME": str(home), "TMPDIR": str(home), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, check=True, capture_output=True, text=True
    ).stdout


def test_words_are_counted_with_the_o200k_table(table: Estimator) -> None:
    """`hello world` is two tokens of o200k_base."""
    assert table.count("hello world") == 2


def test_a_word_that_looks_like_a_tokenizer_command_is_plain_text(table: Estimator) -> None:
    """`<|endoftext|>` is counted as the seven pieces of its spelling, not as one command, and comes back unchanged."""
    assert table.count("<|endoftext|>") == 7
    assert table.decode(table.encode("a <|endoftext|> b")) == "a <|endoftext|> b"


def test_a_million_blanks_are_counted(table: Estimator) -> None:
    """A run of blanks that makes the library's pattern overflow is cut and counted."""
    text = "a" + " " * 1_000_000 + "b"
    assert table.decode(table.encode(text)) == text


@given(TEXTS)
def test_decoding_gives_back_every_text(text: str) -> None:
    """decode(encode(text)) is text, count is the length of encode, and the bytes add up, for both estimators."""
    for each in (estimator(), ByteEstimator()):
        tokens = each.encode(text)
        assert each.decode(tokens) == text
        assert each.count(text) == len(tokens)
        assert sum(each.byte_lengths(tokens)) == len(text.encode())


def test_half_a_surrogate_pair_is_counted() -> None:
    """A broken character, which a reply may hold, does not stop the count."""
    for each in (estimator(), ByteEstimator()):
        assert each.count("\ud800") >= 1


def test_four_bytes_are_a_token_of_the_fall_back() -> None:
    """Nine bytes are three estimated tokens, no byte is none."""
    assert [ByteEstimator().count(text) for text in ("", "abcd", "abcdefghi")] == [0, 1, 3]


def test_without_table_and_network_the_count_says_it_is_an_estimate_of_bytes(tmp_path: Path) -> None:
    """No package, no cache, no network: the estimator still counts, under the name of what it does."""
    hidden = f"import sys; sys.modules['bpe_openai'] = None; {REPORT}"
    assert run(hidden, tmp_path) == "bytes/4 estimate None\n"


@pytest.mark.skipif(find_spec("bpe_openai") is None, reason="needs the extra `offline`")
def test_the_table_of_an_installed_package_is_unpacked_once(tmp_path: Path) -> None:
    """Without a network o200k_base comes from the package, by way of the user's cache, and is not unpacked again."""
    cached = tmp_path / "loadrig" / "tiktoken" / TABLE_NAME
    assert run(REPORT, tmp_path) == "o200k_base None\n"
    written = cached.stat().st_mtime_ns
    assert run(REPORT, tmp_path) == "o200k_base None\n"
    assert cached.stat().st_mtime_ns == written


@pytest.mark.skipif(find_spec("bpe_openai") is None, reason="needs the extra `offline`")
def test_a_damaged_table_is_not_used(tmp_path: Path) -> None:
    """A cached table with another hash is replaced, and the user's own setting stays as it was."""
    cached = tmp_path / "loadrig" / "tiktoken" / TABLE_NAME
    cached.parent.mkdir(parents=True)
    cached.write_text("damaged")
    mine = str(tmp_path / "mine")
    assert run(REPORT, tmp_path, TIKTOKEN_CACHE_DIR=mine) == f"o200k_base {mine}\n"
    assert cached.stat().st_size == 3_613_922


def test_importing_costs_no_tokenizer(tmp_path: Path) -> None:
    """The library is loaded at the first count, not at import."""
    assert run("import sys, loadrig.tokens; print('tiktoken' in sys.modules)", tmp_path) == "False\n"
