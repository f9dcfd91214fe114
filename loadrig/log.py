"""The run's folder on disk: append-only files, one writer (the driver), many readers.

Rules: records.jsonl begins with a line that carries the schema number; then one record a line, appended as trials
end and flushed batch by batch. A torn last line (the writer was killed) is cut off before anything is appended
and ignored by readers. Nothing here rewrites a record. Knows no statistics and no prices.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from loadrig.words.corpus import Question
from loadrig.words.errors import InputError, LogError
from loadrig.words.record import SCHEMA, Record
from loadrig.words.trial import Trial

MANIFEST, PLAN, RECORDS, PROMPTS, QUESTIONS = (
    "manifest.json", "plan.jsonl", "records.jsonl", "prompts.jsonl", "questions.jsonl",
)  # fmt: skip

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_record_decoder = msgspec.json.Decoder(Record)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run as read back. `records` holds the counting record of each trial: the highest try, in file order.

    `superseded` are the lower tries: they stay in the bill and leave every other figure.
    """

    path: Path
    manifest: Mapping[str, Any]
    trials: tuple[Trial, ...]
    questions: Mapping[str, Question]
    records: tuple[Record, ...]
    superseded: tuple[Record, ...]


class RunLog:
    """Appends records and prompt fragments to a run's folder; `with` closes the files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._records = _open_append(folder / RECORDS)
        self._prompts = _open_append(folder / PROMPTS)
        if self._records.tell() == 0:
            self._records.write(_encoder.encode({"schema": SCHEMA, "kind": "loadrig records"}) + b"\n")
            self._records.flush()
        self._known = {row["hash"] for row in _json_lines(folder / PROMPTS)}

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, records: Iterable[Record], fragments: Mapping[str, bytes]) -> None:
        """Writes prompt fragments not yet on file, then the records, and flushes both to the system.

        Raises `LogError` when the disk does not take them.
        """
        try:
            self._write(records, fragments)
        except OSError as error:
            raise LogError(f"{self.folder}: records cannot be written: {error}") from error

    def _write(self, records: Iterable[Record], fragments: Mapping[str, bytes]) -> None:
        for digest, fragment in fragments.items():
            if digest not in self._known:
                self._known.add(digest)
                line = {"hash": digest, "text": fragment.decode()}
                self._prompts.write(_encoder.encode(line) + b"\n")
        self._prompts.flush()
        self._records.writelines(_encoder.encode(record) + b"\n" for record in records)
        self._records.flush()

    def close(self) -> None:
        """Flushes to the disk and closes; may be called twice."""
        for file in (self._prompts, self._records):
            if not file.closed:
                with contextlib.suppress(OSError):  # a full disk was told when it was written to
                    file.flush()
                    os.fsync(file.fileno())
                with contextlib.suppress(OSError):
                    file.close()


def write_json(path: Path, value: object) -> None:
    """Writes strict JSON (no NaN: floats that are not finite become null), indented, replacing the file at once."""
    temporary = path.with_suffix(path.suffix + ".tmp")
    try:
        temporary.write_bytes(msgspec.json.format(_encoder.encode(value), indent=2) + b"\n")
        temporary.replace(path)
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error}") from error


def write_lines(path: Path, values: Iterable[object]) -> None:
    """Writes one JSON value a line."""
    with path.open("wb") as file:
        file.writelines(_encoder.encode(value) + b"\n" for value in values)


def leave_out(folder: Path, trials: Collection[str]) -> None:
    """Takes trials out of the plan on file: those that a stage of stated duration had no time for."""
    left = [trial for trial in _typed_lines(folder / PLAN, Trial) if trial.id not in trials]
    temporary = (folder / PLAN).with_suffix(".tmp")
    write_lines(temporary, left)
    temporary.replace(folder / PLAN)


def read_run(folder: Path) -> RunFolder:
    """Reads a run's folder. Raises `InputError` when it is not one or was written by a newer schema."""
    if not (folder / RECORDS).is_file() or not (folder / MANIFEST).is_file():
        raise InputError("not a run folder", path=folder, remedy="name a folder below results/ that a run wrote")
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes())
    trials = tuple(_typed_lines(folder / PLAN, Trial))
    questions = {question.id: question for question in _typed_lines(folder / QUESTIONS, Question)}
    latest: dict[str, Record] = {}
    superseded: list[Record] = []
    for record in _records_of(folder / RECORDS):
        earlier = latest.get(record.trial)
        if earlier is not None and earlier.try_no > record.try_no:
            superseded.append(record)
            continue
        if earlier is not None:
            superseded.append(earlier)
        latest[record.trial] = record
    return RunFolder(folder, manifest, trials, questions, tuple(latest.values()), tuple(superseded))


def read_prompts(folder: Path) -> dict[str, bytes]:
    """Prompt fragments by hash: the body of a call is the join of its turn's `prompt` hashes, byte for byte."""
    return {row["hash"]: row["text"].encode() for row in _json_lines(folder / PROMPTS)}


def _records_of(path: Path) -> Iterable[Record]:
    lines = _whole_lines(path)
    header = msgspec.json.decode(lines[0]) if lines else {}
    if header.get("schema") != SCHEMA:
        raise InputError(
            f"records of schema {header.get('schema')!r}, this loadrig reads {SCHEMA}",
            path=path, line=1, remedy="read the run with the loadrig version named in its manifest",
        )  # fmt: skip
    for number, line in enumerate(lines[1:], start=2):
        try:
            yield _record_decoder.decode(line)
        except msgspec.DecodeError as error:
            raise InputError(
                f"not a record: {error}",
                path=path,
                line=number,
                remedy="remove that line; the trial is asked again on --resume",
            ) from error


def _typed_lines(path: Path, kind: type[T]) -> Iterable[T]:
    decoder = msgspec.json.Decoder(kind)
    return (decoder.decode(line) for line in _whole_lines(path))


def _json_lines(path: Path) -> Iterable[dict[str, Any]]:
    return (msgspec.json.decode(line) for line in _whole_lines(path))


def _whole_lines(path: Path) -> list[bytes]:
    """The lines that end in a newline; a torn last one is left out."""
    data = path.read_bytes() if path.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()


def _open_append(path: Path) -> IO[bytes]:
    """The file, cut after its last whole line and locked for as long as it is open: one process writes a run."""
    file = path.open("ab+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        remedy = "wait until it has ended, or stop it"
        raise InputError("another process is writing this run", path=path, remedy=remedy) from error
    file.seek(0)
    end = file.read().rfind(b"\n") + 1
    file.truncate(end)
    file.seek(end)
    return file
