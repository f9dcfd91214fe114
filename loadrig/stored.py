"""What is read back of a run: all but the texts, which stay on file until somebody asks for them.

Rules: answers, and the same again as texts of turns, are nearly all of a run's file, and few figures look at them. So
the `answer` of a stored record, and the `text` of a turn of it, read the record's line again. The last few lines read
are kept: who asks for one text several times in a row pays once. What is made of a text and wanted again is kept by
whoever made it. `fingerprint` tells answers apart, and `has_text` whether a turn has a text, without reading them. A
line stays where it was, for files are append-only. Prompts are read in the same way.

To whoever reads it, a stored record is a `Record`, and equal to the plain one. To encode it, take `whole`: its own
fields hold no text. Values that repeat from record to record are one object. Knows no rules of a run's folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, force_setattr

from loadrig.words.record import Attempt, Record, Turn

KEPT = 32  # lines
_BYTES = 16


class _Hashed(msgspec.Struct):
    hash: str


class _Fragment(_Hashed):
    text: str


_decoder = msgspec.json.Decoder(Record)
_hash_decoder = msgspec.json.Decoder(_Hashed)
_fragment_decoder = msgspec.json.Decoder(_Fragment)
_REPEATED = {
    Record: ("run", "arm", "model", "question", "category", "stage", "reply_model", "worker", "route", "route_note",
             "currency", "retrieved", "usage", "cost"),
    Turn: ("prompt", "reply_model", "stop_reason", "usage", "cost"),
    Attempt: ("usage", "cost"),
}  # fmt: skip


class Lines:
    """A file of records, read by where a line begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.record = lru_cache(maxsize=KEPT)(self._record)

    def _record(self, at: int) -> Record:
        with self._path.open("rb") as file:
            file.seek(at)
            return _decoder.decode(file.readline())


class StoredTurn(Turn, frozen=True, gc=False, kw_only=True):
    """A turn of a stored record, the `place`-th."""

    lines: Lines
    at: int
    place: int
    has_text: bool

    @property  # type: ignore[misc]  # a field, frozen, that is read elsewhere
    def text(self) -> str:
        """Read from the file."""
        return self.lines.record(self.at).turns[self.place].text


class Fingerprint(msgspec.Struct, frozen=True, gc=False):
    """The length of a text in characters, and a digest of it."""

    chars: int
    digest: bytes


class Stored(Record, frozen=True, kw_only=True):
    """A record whose line begins at the byte `at`."""

    lines: Lines
    at: int
    fingerprint: Fingerprint

    @property  # type: ignore[misc]  # as above
    def answer(self) -> str:
        """Read from the file."""
        return self.lines.record(self.at).answer

    def __eq__(self, other: object) -> bool:
        return whole(self) == whole(other) if isinstance(other, Record) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # that of the plain record would want its texts


class StoredPrompts(Mapping[str, bytes]):
    """Prompt fragments by hash; `lines` are those of the file, whole and from its beginning."""

    def __init__(self, path: Path, lines: Iterable[bytes]) -> None:
        self._path = path
        self._at: dict[str, int] = {}
        at = 0
        for line in lines:
            self._at[_hash_decoder.decode(line).hash] = at
            at += len(line)

    def __getitem__(self, digest: str) -> bytes:
        with self._path.open("rb") as file:
            file.seek(self._at[digest])
            return _fragment_decoder.decode(file.readline()).text.encode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, digest: object) -> bool:
        return digest in self._at


def stored(line: bytes, lines: Lines, at: int, shared: dict[Any, Any]) -> Stored:
    """The record of the line that begins at the byte `at`; `shared` are values met so far. Raises
    `msgspec.DecodeError` when the line is no record."""
    record = _decoder.decode(line)
    for value in (record, *record.turns, *(attempt for turn in record.turns for attempt in turn.attempts)):
        for name in _REPEATED[type(value)]:
            found = getattr(value, name)
            force_setattr(value, name, shared.setdefault(found, found))
        if isinstance(value, Attempt):
            force_setattr(value, "rate_limit", tuple(shared.setdefault(pair, pair) for pair in value.rate_limit))
    here = {"text": "", "lines": lines, "at": at}
    turns = tuple(
        StoredTurn(**{**asdict(turn), **here, "place": place, "has_text": bool(turn.text)})
        for place, turn in enumerate(record.turns)
    )
    own = {"answer": "", "turns": turns, "lines": lines, "at": at, "fingerprint": fingerprint(record)}
    return Stored(**{**asdict(record), **own})


def whole(record: Record) -> Record:
    """The plain record, with every text."""
    return record.lines.record(record.at) if isinstance(record, Stored) else record


def has_text(turn: Turn) -> bool:
    """Whether some text came."""
    return turn.has_text if isinstance(turn, StoredTurn) else bool(turn.text)


def fingerprint(record: Record) -> Fingerprint:
    """Of its answer: alike for answers that are alike to the byte, and for no others."""
    if isinstance(record, Stored):
        return record.fingerprint
    answer = record.answer
    return Fingerprint(len(answer), blake2b(answer.encode(errors="surrogatepass"), digest_size=_BYTES).digest())
