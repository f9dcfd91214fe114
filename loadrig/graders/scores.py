"""scores.jsonl, beside the records: who graded, and every mark. Grading again replaces a grader's marks, no one else's.

The first line has the schema number; then, of each grader, a line for him and one for each score. The file is replaced
whole, under a lock on the run's folder, so that two graders at once do not lose one another's work.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from loadrig.log import write_lines
from loadrig.words.errors import InputError, LogError
from loadrig.words.score import SCHEMA, Grader, Key, Score

SCORES = "scores.jsonl"
_decoder = msgspec.json.Decoder(Grader | Score)


@dataclass(frozen=True, slots=True)
class Graded:
    """One grader and his scores, by trial and try."""

    grader: Grader
    scores: Mapping[Key, Score] = field(default_factory=dict)


def read(folder: Path) -> tuple[Graded, ...]:
    """Every grader of a run, in the order they first graded. Raises `InputError` for a file that is not ours."""
    path = folder / SCORES
    lines = path.read_bytes().splitlines() if path.exists() else []
    if lines:
        _check_schema(path, lines[0])
    graders: dict[str, Grader] = {}
    scores: dict[str, dict[Key, Score]] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = _decoder.decode(line)
        except msgspec.DecodeError as error:
            remedy = "remove that line, and let its grader grade again"
            raise InputError(f"not a score: {error}", path=path, line=number, remedy=remedy) from error
        if isinstance(row, Grader):
            graders[row.name] = row
        else:
            scores.setdefault(row.grader, {})[row.trial, row.try_no] = row
    return tuple(Graded(grader, scores.get(name, {})) for name, grader in graders.items())


def replace(folder: Path, grader: Grader, scores: Sequence[Score]) -> int:
    """Writes a grader's scores in place of those he gave before; the number of those."""
    with _locked(folder):
        known = {one.grader.name: one for one in read(folder)}
        before = known.get(grader.name)
        if before is not None and before.grader.kind != grader.kind:
            remedy = "give the grader another name with --grader or --name"
            raise InputError(f"{grader.name!r} is already a {before.grader.kind}", path=folder / SCORES, remedy=remedy)
        known[grader.name] = Graded(grader, {(score.trial, score.try_no): score for score in scores})
        temporary = folder / f"{SCORES}.tmp"
        try:
            write_lines(temporary, _rows(known))
            temporary.replace(folder / SCORES)
        except OSError as error:
            raise LogError(f"{folder / SCORES} cannot be written: {error}") from error
    return 0 if before is None else len(before.scores)


def _rows(known: Mapping[str, Graded]) -> Iterator[object]:
    yield {"schema": SCHEMA, "kind": "loadrig scores"}
    for one in known.values():
        yield one.grader
        yield from one.scores.values()


def _check_schema(path: Path, line: bytes) -> None:
    try:
        schema = msgspec.json.decode(line).get("schema")
    except (msgspec.DecodeError, AttributeError):
        schema = None
    if schema != SCHEMA:
        remedy = "read it with the loadrig version that wrote it, or move it away and grade again"
        raise InputError(f"scores of schema {schema!r}, this loadrig reads {SCHEMA}", path=path, line=1, remedy=remedy)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
