"""Token counts: the only home of tiktoken. `estimator()` gives the one that is used everywhere, o200k_base.

Rules: counts are estimates (no provider's own tokenizer is here) and `name` says of which kind. Text that looks like
a tokenizer's command (`<|endoftext|>`) is plain text. No table is part of loadrig and none is needed over a network:
the table comes from tiktoken's own cache, else from an installed `bpe_openai` package (the `offline` extra), whose
copy is unpacked once into the user's cache folder, else from tiktoken's download, else counts are bytes / 4.

Knows nothing of chunks, prompts or prices.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
FALL_BACK = "bytes/4 estimate"
# tiktoken looks for a table below this name (the SHA-1 of its address) and accepts it only with this SHA-256.
TABLE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
TABLE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"

# tiktoken's pattern panics on a run of about a million blanks, so longer texts are cut behind each run of this length.
_LONGEST_BLANK = 100_000
_long_blank = re.compile(rf"\s{{{_LONGEST_BLANK}}}")
_CACHE_VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
_loading = threading.Lock()


class Estimator(Protocol):
    """Counts and cuts text in tokens. For every text `decode(encode(text)) == text`."""

    @property
    def name(self) -> str:
        """`o200k_base`, or `bytes/4 estimate`."""
        ...

    def count(self, text: str) -> int: ...

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of these tokens; bytes of a character cut at either end become U+FFFD."""
        ...

    def byte_lengths(self, tokens: Sequence[int]) -> list[int]:
        """How many bytes of UTF-8 each token stands for: where windows of tokens may be cut (`corpus.chunking`)."""
        ...


@dataclass(frozen=True, slots=True)
class TableEstimator:
    """Byte-pair encoding with tiktoken's o200k_base table."""

    encoding: tiktoken.Encoding
    name: str = ENCODING

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        if len(text) <= _LONGEST_BLANK:
            return self.encoding.encode_ordinary(text)
        return [token for piece in _pieces(text) for token in self.encoding.encode_ordinary(piece)]

    def decode(self, tokens: Sequence[int]) -> str:
        return self.encoding.decode(tokens)

    def byte_lengths(self, tokens: Sequence[int]) -> list[int]:
        return [len(piece) for piece in self.encoding.decode_tokens_bytes(tokens)]


@dataclass(frozen=True, slots=True)
class ByteEstimator:
    """Four bytes of UTF-8 a token, the last one shorter. A token's number is its bytes behind a leading 1."""

    name: str = FALL_BACK

    def count(self, text: str) -> int:
        return -(-len(_bytes(text)) // 4)

    def encode(self, text: str) -> list[int]:
        data = _bytes(text)
        return [int.from_bytes(b"\x01" + data[at : at + 4]) for at in range(0, len(data), 4)]

    def decode(self, tokens: Sequence[int]) -> str:
        pieces = (
            token.to_bytes(length + 1)[1:] for token, length in zip(tokens, self.byte_lengths(tokens), strict=True)
        )
        return b"".join(pieces).decode("utf-8", errors="replace")

    def byte_lengths(self, tokens: Sequence[int]) -> list[int]:
        return [(token.bit_length() - 1) // 8 for token in tokens]


@cache
def estimator() -> Estimator:
    """The estimator of this process, made at the first call (0.4 s with a table) and kept.

    Raises nothing: without a table and without a network it counts bytes / 4 and says so in `name`.
    """
    with _loading:
        return _with_table() or ByteEstimator()


def _with_table() -> Estimator | None:
    """Without a table at hand `tiktoken` downloads it; without a network that is an OSError."""
    with _cache_folder(None if _has_table(_tiktoken_folder()) else _unpacked()):
        try:
            import tiktoken  # noqa: PLC0415 - 0.1 s that a command which counts nothing should not pay

            return TableEstimator(tiktoken.get_encoding(ENCODING))
        except (OSError, ValueError):
            return None


@contextmanager
def _cache_folder(folder: Path | None) -> Iterator[None]:
    """Points tiktoken to `folder` while it loads, and the environment back to what the user had set."""
    if folder is None:
        yield
        return
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _tiktoken_folder() -> Path | None:
    """Where tiktoken itself would look; None when the user has switched its cache off."""
    for variable in _CACHE_VARIABLES:
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _has_table(folder: Path | None) -> bool:
    return folder is not None and _is_table(folder / TABLE_NAME)


def _is_table(path: Path) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == TABLE_SHA256
    except OSError:
        return False


def _unpacked() -> Path | None:
    """The folder with the table that `bpe_openai` carries, unpacked at most once; None when there is no such table."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadrig" / "tiktoken"
    if _has_table(folder):
        return folder
    package = importlib.util.find_spec("bpe_openai")  # found, not imported: only its data file is wanted
    if package is None or package.origin is None:
        return None
    try:
        table = gzip.decompress((Path(package.origin).parent / "data" / f"{ENCODING}.tiktoken.gz").read_bytes())
        if hashlib.sha256(table).hexdigest() != TABLE_SHA256:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed: several workers may unpack at the same moment.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(table)
        Path(file.name).replace(folder / TABLE_NAME)
    except (OSError, EOFError):
        return None
    return folder


def _pieces(text: str) -> list[str]:
    cuts = [0, *(found.end() for found in _long_blank.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


def _bytes(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which a reply's JSON may hold, counts like tiktoken's replacement for it."""
    return text.encode("utf-8", errors="replace")
