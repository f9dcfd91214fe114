"""manifest.jsonl: which files are documents, and what is known about each.

Rules: one JSON object a line; `id` and `file` are required, `title`, `date` (ISO, 2026-03-01), `status` and `access`
(a list of labels) optional; other keys are ignored. With a manifest only listed files are documents. Ids and files
occur once.
"""

from __future__ import annotations

import datetime
import posixpath
import re
from dataclasses import dataclass, replace
from pathlib import Path

from loadrig.corpus.jsonl import read_rows
from loadrig.words.corpus import EVERYTHING
from loadrig.words.errors import InputError

NAME = "manifest.jsonl"
_LINE = 'a line looks like {"id": "a", "file": "docs/a.txt", "title": "A", "date": "2026-03-01"}'


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: the document's id, its file relative to the corpus folder, and what else is said of it."""

    id: str
    file: str
    title: str | None = None
    date: str | None = None
    status: str | None = None
    access: tuple[str, ...] = ()


def read_manifest(path: Path) -> list[tuple[int, Entry]]:
    """Line numbers and entries in file order, `file` without `./` and `x/..`. Raises `InputError` with the line."""
    rows = [
        (line, replace(entry, file=posixpath.normpath(entry.file) if entry.file.strip() else ""))
        for line, entry in read_rows(path, Entry, remedy=_LINE)
    ]
    lines_of_ids: dict[str, int] = {}
    lines_of_files: dict[str, int] = {}
    for line, entry in rows:
        if not entry.id.strip() or not entry.file:
            raise InputError("empty id or file", path=path, line=line, remedy=_LINE)
        _once(lines_of_ids, entry.id, what="id", path=path, line=line)
        _once(lines_of_files, entry.file, what="file", path=path, line=line)
        if entry.date is not None and not is_iso(entry.date):
            raise InputError(f"not an ISO date: {entry.date!r}", path=path, line=line, remedy="write it as 2026-03-01")
        if EVERYTHING in entry.access:
            remedy = "leave `access` out: a document without labels is open to all"
            raise InputError(
                f"{EVERYTHING!r} is a caller's label, not a document's", path=path, line=line, remedy=remedy
            )
    return rows


def _once(seen: dict[str, int], value: str, *, what: str, path: Path, line: int) -> None:
    if value in seen:
        problem = f"{what} {value!r} occurs twice, first in line {seen[value]}"
        raise InputError(problem, path=path, line=line, remedy=f"give each document its own {what}")
    seen[value] = line


def is_iso(text: str) -> bool:
    """Whether it is a day as `2026-03-01`."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
