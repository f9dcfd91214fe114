"""Digests of all runs of a plan, each read from its records once: afterwards from `nights-PLAN.jsonl` beside the runs.

A line there holds good while the run's folder has the same files of the same size and time of change, for the same
zone, by the same loadrig. A line that does not, or was changed since (its last field is the SHA-256 of the rest),
is made anew; so the file may be deleted at any time, and nothing changes but how long a report takes. A run that cannot
be read is told as such, never left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from loadrig import __version__
from loadrig.analysis.nightly.digest import RunNights, digest
from loadrig.graders.judge import FOLDER
from loadrig.log import MANIFEST, PLAN, PROBES, QUESTIONS, RECORDS, read_run
from loadrig.words.errors import LoadrigError, LogError

FORM = 2  # of a digest; a change to what is in it, or how it is counted, is another number
_READ = (MANIFEST, RECORDS, PLAN, QUESTIONS, PROBES)
_NO_RUN = (LoadrigError, OSError, msgspec.DecodeError, LookupError, ValueError, TypeError, AttributeError,
           ArithmeticError)  # fmt: skip
_SEAL = b',"sha256":"'
_UNSAFE = re.compile(r"[^\w.-]")


class Known(msgspec.Struct, frozen=True):
    """For what a digest holds good: files are name, bytes, and nanoseconds of the last change."""

    folder: str
    form: int
    version: str
    zone: str
    files: tuple[tuple[str, int, int], ...]


class Kept(msgspec.Struct, frozen=True):
    """One run: its digest, or why there is none."""

    known: Known
    nights: RunNights | None
    trouble: str | None = None


class _PlanName(msgspec.Struct):
    name: str = ""


class _Manifest(msgspec.Struct):
    plan: _PlanName = msgspec.field(default_factory=_PlanName)


class _Entry(msgspec.Struct):
    known: Known


def plan_file(results: Path, plan: str, kind: str) -> Path:
    """Where a file about a plan lies: `results/nightly-PLAN.md`."""
    stem = "nights" if kind == "jsonl" else "nightly"
    return results / f"{stem}-{_UNSAFE.sub('-', plan)}.{kind}"


def all_runs(results: Path, plan: str, zone: ZoneInfo) -> list[Kept]:
    """Every run of the plan below `results`, in order of their folders' names. Runs of other plans are not read, so a
    broken one does no harm; one whose manifest is none may be of any plan."""
    path = plan_file(results, plan, "jsonl")
    before = _read(path)
    found, made = list[bytes](), list[Kept]()
    for folder in _folders(results, plan):
        known = _known(folder, zone)
        line = before.get(known)
        kept = None if line is None else _decoded(line)
        made.append(kept or _made(folder, known, zone))
        found.append(line if kept is not None and line is not None else _sealed(msgspec.json.encode(made[-1])))
    if found != list(before.values()):
        _write(path, found)
    return made


def _folders(results: Path, plan: str) -> Iterator[Path]:
    for path in sorted(results.glob(f"*/{MANIFEST}")):
        try:
            named = msgspec.json.decode(path.read_bytes(), type=_Manifest).plan.name
        except (msgspec.DecodeError, OSError):  # whose run it is nobody knows: told as one that cannot be read
            named = plan
        if named == plan and (path.parent / RECORDS).is_file():
            yield path.parent


def _known(folder: Path, zone: ZoneInfo) -> Known:
    paths = [folder / name for name in _READ]
    paths += [path / name for path in sorted((folder / FOLDER).glob("*")) for name in _READ]
    stats = [(path.relative_to(folder).as_posix(), path.stat()) for path in paths if path.is_file()]
    files = tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    return Known(folder.name, FORM, __version__, zone.key, files)


def _made(folder: Path, known: Known, zone: ZoneInfo) -> Kept:
    try:
        return Kept(known, digest(read_run(folder), zone))
    except _NO_RUN as error:
        return Kept(known, None, f"{folder.name} cannot be read: {error}".replace("\n", " "))


def _read(path: Path) -> dict[Known, bytes]:
    found = {}
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            if _is_whole(line):
                found[msgspec.json.decode(line, type=_Entry).known] = line
        except msgspec.DecodeError:
            continue
    return found


def _sealed(line: bytes) -> bytes:
    return line[:-1] + _SEAL + hashlib.sha256(line).hexdigest().encode() + b'"}'


def _is_whole(line: bytes) -> bool:
    body, _, seal = line.rpartition(_SEAL)
    return seal == hashlib.sha256(body + b"}").hexdigest().encode() + b'"}'


def _decoded(line: bytes) -> Kept | None:
    try:
        return msgspec.json.decode(line, type=Kept)
    except msgspec.DecodeError:
        return None


def _write(path: Path, lines: list[bytes]) -> None:
    temporary = path.with_suffix(".tmp")
    try:
        temporary.write_bytes(b"".join(line + b"\n" for line in lines))
        temporary.replace(path)
    except OSError as error:
        raise LogError(f"{path} cannot be written: {error}") from error
