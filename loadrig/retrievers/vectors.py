"""Vectors on disk, by a hash of model and text, so that no text is embedded twice by one model on one machine.

One file a model, below `$LOADRIG_CACHE`, else `$XDG_CACHE_HOME/loadrig`, else `~/.cache/loadrig`: a head, then one
record after the other of 32 bytes of hash and the vector's numbers. Records are appended as they are made, under a
lock: a build that was ended goes on where it stood, and several may go on at once. What a crash tore off at the end is
cut before the next is written; a vector that is not of length 1 is not believed. No text is kept. Files may be deleted
at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadrig.words.errors import InputError

VARIABLE = "LOADRIG_CACHE"
_HEAD = struct.Struct("<8sII")
_MAGIC, _VERSION = b"lr-vectr", 1
_HASH_BYTES = 32

Vector = npt.NDArray[np.float32]


def cache_folder() -> Path:
    """Where loadrig keeps what can be made again."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "loadrig"


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one model."""

    path: Path
    identity: str

    @staticmethod
    def of(identity: str) -> Vectors:
        name = hashlib.sha256(identity.encode()).hexdigest()[:24]
        return Vectors(cache_folder() / "vectors" / f"{name}.vectors", identity)

    def key(self, text: str) -> bytes:
        """What a text is kept under."""
        return hashlib.sha256(f"{self.identity}\0{text}".encode("utf-8", errors="surrogatepass")).digest()

    def known(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors of those that are on file."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unusable(self.path, error) from error
        width = self._width(content)
        if width is None:
            return {}
        whole = (len(content) - _HEAD.size) // width * width
        records = np.frombuffer(content, dtype=np.uint8, offset=_HEAD.size, count=whole).reshape(-1, width)
        vectors = np.ascontiguousarray(records[:, _HASH_BYTES:]).view("<f4")
        sound = np.abs(np.linalg.norm(vectors, axis=1) - 1) < 1e-3
        wanted = set(keys)
        found: dict[bytes, Vector] = {}
        for at in np.flatnonzero(sound):
            key = records[at, :_HASH_BYTES].tobytes()
            if key in wanted:
                found[key] = vectors[at].astype(np.float32)
        return found

    def add(self, made: Mapping[bytes, Vector]) -> None:
        """Appends vectors, each of length 1."""
        records = b"".join(key + vector.astype("<f4").tobytes() for key, vector in made.items())
        numbers = len(next(iter(made.values())))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                width = self._width(file.read(_HEAD.size))
                size = file.seek(0, os.SEEK_END)
                if width != _HASH_BYTES + 4 * numbers:
                    file.truncate(0)
                    file.write(_HEAD.pack(_MAGIC, _VERSION, numbers))
                else:
                    file.truncate(size - (size - _HEAD.size) % width)
                file.write(records)
        except OSError as error:
            raise _unusable(self.path, error) from error

    @staticmethod
    def _width(content: bytes) -> int | None:
        """Bytes of a record; None for a file that is none of ours, or of another version."""
        if len(content) < _HEAD.size:
            return None
        magic, version, numbers = _HEAD.unpack_from(content)
        return _HASH_BYTES + 4 * numbers if (magic, version) == (_MAGIC, _VERSION) and numbers else None


def _unusable(path: Path, error: OSError) -> InputError:
    remedy = f"make room, or set {VARIABLE} to a folder that can be written"
    return InputError(f"the cache of vectors cannot be used: {error}", path=path, remedy=remedy)
