"""The run's folder on disk: append-only files, one writer (the driver), many readers.

Rules: records.jsonl begins with a line that carries the schema number; then one record a line, appended as trials
end. What `append` and `lease` were given is with the operating system when they return: it outlives this process,
however that ends, and with `sync` the machine. What a full disk took in part is cut off again, so that a later line
does not glue to it. A torn last line (the writer was killed) is cut off before anything is appended and ignored by
readers. leases.jsonl says which trials were given to a worker, before it is given them: without a record, such a trial
may have been sent. Nothing here rewrites a record. Files are read a line at a time, and what is read back of a run are
its records without their texts, which stay on file (`loadrig.stored`): a run may be larger than memory. Knows no
statistics and no prices.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from loadrig.stored import Lines, StoredPrompts, stored
from loadrig.words.change import Adopted, Changes, Made
from loadrig.words.corpus import Question
from loadrig.words.errors import InputError, LogError
from loadrig.words.record import SCHEMA, Record
from loadrig.words.score import Grading, Key, Marks
from loadrig.words.trial import Trial

PROBES, INVENTED = "probes.jsonl", "invented.json"
CHANGES, WORDINGS, KEYS_AFTER = "changes.jsonl", "wordings.json", "questions-after.jsonl"
MANIFEST, PLAN, RECORDS, PROMPTS, QUESTIONS, LEASES = (
    "manifest.json", "plan.jsonl", "records.jsonl", "prompts.jsonl", "questions.jsonl", "leases.jsonl",
)  # fmt: skip

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_line = msgspec.json.Decoder(dict[str, Any])
_DAMAGED = "take the file from a copy of the run's folder, or run the plan again"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Invented:
    """What only the corpus can have told a model: its canary and its invented names."""

    canary: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run as read back. `records` holds the counting record of each trial: the highest try, in file order.

    `superseded` are the lower tries: they stay in the bill and leave every other figure. `grading`: whose marks count;
    None: the pre-check's. `probes`: calls before the first trial, in the bill and in no other figure. `sessions`: the
    number (from 1) of the going at the run that wrote a record, by its trial and try; of runs taken up, and written by
    a loadrig that counts them. `marks`: the automatic ones made so far, kept by who makes them: each wants an answer's
    text, and many figures the marks.
    """

    path: Path
    manifest: Mapping[str, Any]
    trials: tuple[Trial, ...]
    questions: Mapping[str, Question]
    records: tuple[Record, ...]
    superseded: tuple[Record, ...]
    grading: Grading | None = None
    probes: tuple[Record, ...] = ()
    sessions: Mapping[tuple[str, int], int] = field(default_factory=dict)
    marks: dict[Key, Marks] = field(default_factory=dict, init=False, repr=False, compare=False)


class _Change(msgspec.Struct):
    made: Made | None = None
    adopted: Adopted | None = None


class RunLog:
    """Appends records, prompt fragments and leases to a run's folder; `with` closes the files. Every method raises
    `LogError` when the disk does not take what it is given; of that, nothing is on file then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._records = _open_append(folder / RECORDS)
        self._prompts = _open_append(folder / PROMPTS)
        self._leases = _open_append(folder / LEASES)
        if self._records.tell() == 0:
            self._append(self._records, [{"schema": SCHEMA, "kind": "loadrig records"}])
        self._known = {row["hash"] for row in _json_lines(folder / PROMPTS)}

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, records: Iterable[Record], fragments: Mapping[str, bytes]) -> None:
        """Writes prompt fragments not yet on file, then the records."""
        self._keep(fragments)
        self._append(self._records, records)

    def probe(self, record: Record, fragments: Mapping[str, bytes]) -> None:
        """Writes a call that is no trial, and what it asked, into a file of its own."""
        self._keep(fragments)
        self._append_to(PROBES, "loadrig probes", record)

    def change(self, told: Made | Adopted) -> None:
        """Writes that documents have changed, or what a worker tells of it, into a file of its own."""
        self._append_to(CHANGES, "loadrig changes", {type(told).__name__.lower(): told})

    def _append_to(self, name: str, kind: str, value: object) -> None:
        with contextlib.closing(_open_append(self.folder / name)) as file:
            if file.tell() == 0:
                self._append(file, [{"schema": SCHEMA, "kind": kind}])
            self._append(file, [value])

    def _keep(self, fragments: Mapping[str, bytes]) -> None:
        fresh = {digest: text for digest, text in fragments.items() if digest not in self._known}
        self._append(self._prompts, ({"hash": digest, "text": text.decode()} for digest, text in fresh.items()))
        self._known.update(fresh)

    def lease(self, worker: str, trials: Sequence[Trial]) -> None:
        """Notes that a worker is about to be given these trials."""
        self._append(self._leases, [{"worker": worker, "given": _tries(trials)}] if trials else ())

    def take_back(self, worker: str, trials: Sequence[Trial]) -> None:
        """Notes that a worker has not begun these trials, and will not."""
        self._append(self._leases, [{"worker": worker, "back": _tries(trials)}] if trials else ())

    def sync(self) -> None:
        """Waits until the disk has what was written: it outlives the machine's power, too."""
        try:
            for file in (self._leases, self._prompts, self._records):
                os.fsync(file.fileno())
        except OSError as error:
            raise LogError(f"{self.folder}: the disk did not take what was written: {error}") from error

    def close(self) -> None:
        """Flushes to the disk and closes; may be called twice."""
        for file in (self._leases, self._prompts, self._records):
            with contextlib.suppress(OSError, ValueError):  # a full disk was told when it was written to; or closed
                os.fsync(file.fileno())
            with contextlib.suppress(OSError):
                file.close()

    def _append(self, file: FileIO, values: Iterable[object]) -> None:
        """All of them, a line each, or none."""
        left = memoryview(b"".join(_encoder.encode(value) + b"\n" for value in values))
        if not left:
            return
        end = file.tell()
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            file.truncate(end)
            file.seek(end)
            raise LogError(f"{self.folder}: records cannot be written: {error}") from error


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
    manifest = _manifest(folder / MANIFEST)
    trials = tuple(_typed_lines(folder / PLAN, Trial))
    questions = {question.id: question for question in _typed_lines(folder / QUESTIONS, Question)}
    latest: dict[str, Record] = {}
    superseded: list[Record] = []
    begins = [session.get("records") for session in manifest.get("sessions") or []]
    sessions: dict[tuple[str, int], int] = {}
    for place, record in enumerate(_records_of(folder / RECORDS)):
        if len(begins) > 1 and None not in begins:
            sessions[record.trial, record.try_no] = bisect_right(begins, place)
        earlier = latest.get(record.trial)
        if earlier is not None and earlier.try_no > record.try_no:
            superseded.append(record)
            continue
        if earlier is not None:
            superseded.append(earlier)
        latest[record.trial] = record
    return RunFolder(
        folder, manifest, trials, questions, tuple(latest.values()), tuple(superseded),
        probes=read_probes(folder), sessions=sessions,
    )  # fmt: skip


def count_records(folder: Path) -> int:
    """How many are on file."""
    return max(0, sum(1 for _ in _whole_lines(folder / RECORDS)) - 1)


def read_probes(folder: Path) -> tuple[Record, ...]:
    """The calls that were no trials, in the order they were made."""
    return tuple(_records_of(folder / PROBES)) if (folder / PROBES).exists() else ()


def read_changes(folder: Path) -> Changes:
    """What is on file of documents that changed in mid-run: of each worker what it told last."""
    rows = msgspec.convert(list(_json_lines(folder / CHANGES)), list[_Change])
    told = {(row.adopted.session, row.adopted.worker): row.adopted for row in rows if row.adopted is not None}
    return Changes(next((row.made for row in rows if row.made is not None), None), tuple(told.values()))


def read_keys_after(folder: Path) -> dict[str, Question]:
    """By question, the keys that hold once documents have changed; none where the plan names none."""
    return {key.id: key for key in _typed_lines(folder / KEYS_AFTER, Question)}


def read_invented(folder: Path) -> Invented | None:
    """Canary and invented names of the run's corpus; None when it has no ledger."""
    path = folder / INVENTED
    return msgspec.json.decode(path.read_bytes(), type=Invented) if path.exists() else None


def read_prompts(folder: Path) -> Mapping[str, bytes]:
    """Prompt fragments by hash, each read when it is asked for: the body of a call is the join of its turn's `prompt`
    hashes, byte for byte."""
    return StoredPrompts(folder / PROMPTS, _whole_lines(folder / PROMPTS))


def read_leases(folder: Path) -> set[tuple[str, int]]:
    """Trial and try of all that was given to a worker and not taken back unbegun."""
    given: set[tuple[str, int]] = set()
    for row in _json_lines(folder / LEASES):
        given.update((trial, try_no) for trial, try_no in row.get("given", ()))
        given.difference_update((trial, try_no) for trial, try_no in row.get("back", ()))
    return given


def _tries(trials: Sequence[Trial]) -> list[tuple[str, int]]:
    return [(trial.id, trial.try_no) for trial in trials]


def _manifest(path: Path) -> dict[str, Any]:
    remedy = "take the file from a copy of the run's folder; the records beside it are whole without it"
    return _decoded(_line, path.read_bytes(), path, None, remedy=remedy)


def _decoded(decoder: msgspec.json.Decoder[T], text: bytes, path: Path, line: int | None, *, remedy: str) -> T:
    """What a file or a line of it holds. Raises `InputError` for one that somebody damaged."""
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path, line=line, remedy=remedy) from error


def _records_of(path: Path) -> Iterator[Record]:
    lines = _whole_lines(path)
    first = next(lines, b"{}")
    header = _decoded(_line, first, path, 1, remedy=_DAMAGED)
    if header.get("schema") != SCHEMA:
        raise InputError(
            f"records of schema {header.get('schema')!r}, this loadrig reads {SCHEMA}",
            path=path, line=1, remedy="read the run with the loadrig version named in its manifest",
        )  # fmt: skip
    at, file, shared = len(first), Lines(path), dict[Any, Any]()
    for number, line in enumerate(lines, start=2):
        try:
            yield stored(line, file, at, shared)
        except msgspec.DecodeError as error:
            raise InputError(
                f"not a record: {error}",
                path=path,
                line=number,
                remedy="remove that line; the trial is asked again on --resume",
            ) from error
        at += len(line)


def _typed_lines(path: Path, kind: type[T]) -> Iterable[T]:
    decoder = msgspec.json.Decoder(kind)
    return (
        _decoded(decoder, line, path, number, remedy=_DAMAGED)
        for number, line in enumerate(_whole_lines(path), start=1)
    )


def _json_lines(path: Path) -> Iterable[dict[str, Any]]:
    return _typed_lines(path, dict[str, Any])


def _whole_lines(path: Path) -> Iterator[bytes]:
    """The lines that end in a newline, with it; a torn last one is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        yield from (line for line in file if line.endswith(b"\n"))


def _open_append(path: Path) -> FileIO:
    """The file, cut after its last whole line and locked for as long as it is open: one process writes a run."""
    file = path.open("ab+", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        remedy = "wait until it has ended, or stop it"
        raise InputError("another process is writing this run", path=path, remedy=remedy) from error
    end = _end_of_lines(file)
    file.truncate(end)
    file.seek(end)
    return file


def _end_of_lines(file: FileIO) -> int:
    """Where the last whole line ends, looked for from the end on."""
    end = file.seek(0, os.SEEK_END)
    while end:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        newline = file.read(end - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0
