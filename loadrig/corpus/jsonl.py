"""JSON Lines written by people: the reader for manifests and question files.

Rules: UTF-8 with or without a mark, lines ended by LF or CRLF, the last one perhaps by nothing; blank lines are
skipped; keys that the type does not name are ignored. A line that is not JSON (a torn last one too: a question must
not vanish in silence) or does not fit the type is an `InputError` with its number. Line 1 is the first.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from loadrig.words.errors import InputError

T = TypeVar("T")


def read_rows(path: Path, kind: type[T], *, remedy: str) -> Iterator[tuple[int, T]]:
    """Pairs of line number and value. `remedy` says what a right line looks like."""
    decoder = msgspec.json.Decoder(kind)
    for number, line in _lines(path):
        try:
            yield number, decoder.decode(line)
        except msgspec.ValidationError as error:
            raise InputError(_problem(error), path=path, line=number, remedy=remedy) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(f"not valid JSON: {error}", path=path, line=number, remedy=remedy) from error


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path, remedy="name a readable file") from error
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _problem(error: msgspec.ValidationError) -> str:
    """`Object missing required field `reference`` and the like, in the words of a question file's author."""
    text = str(error).replace("Object missing required field", "missing field")
    text = text.replace("Expected `object`, got", "expected an object {...}, got")
    return text[0].lower() + text[1:]
