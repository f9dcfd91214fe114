"""The BEIR layout: corpus.jsonl, queries.jsonl and qrels/test.tsv as documents and questions with gold.

Rules: a document's id is its `_id`, its text the title, a blank line and the text. A question's gold are the documents
with a relevance above 0; questions without any are left out and counted. There are no reference answers in this layout.
Of several files of relevance the test set counts, else dev, else train.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadrig.corpus.jsonl import read_rows
from loadrig.corpus.manifest import Entry
from loadrig.words.corpus import Skipped
from loadrig.words.errors import InputError

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
CATEGORY = "retrieval"
_SPLITS = ("test", "dev", "train")
_RELEVANCE = "a line is query, document and a whole number, with tabs between"


@dataclass(frozen=True, slots=True)
class Judged:
    """Lines of a question file, and how many queries had no relevant document."""

    questions: tuple[Mapping[str, Any], ...]
    left_out: int
    qrels: Path


def is_beir(folder: Path) -> bool:
    """Whether a folder has this layout."""
    return (folder / CORPUS).is_file() and (folder / QUERIES).is_file()


def documents(folder: Path) -> Iterator[tuple[Entry, bytes] | Skipped]:
    """The documents as they stand; empty ones are skipped. Raises `InputError` with the line."""
    seen: dict[str, int] = {}
    path = folder / CORPUS
    remedy = 'a line looks like {"_id": "1", "title": "...", "text": "..."}'
    for number, (line, row) in enumerate(read_rows(path, _Text, remedy=remedy), start=1):
        _once(seen, row._id, path, line)
        text = "\n\n".join(part for part in (row.title.strip(), row.text.strip()) if part)
        if text:
            yield Entry(row._id, f"docs/{number:07}.txt", title=row.title.strip() or None), f"{text}\n".encode()
        else:
            yield Skipped(row._id, "empty")


def questions(folder: Path, known: Collection[str]) -> Judged:
    """The queries that have a relevant document among `known`. Raises `InputError` with the line."""
    path, seen = folder / QUERIES, dict[str, int]()
    qrels = _qrels_of(folder)
    relevant = _relevant(qrels, known)
    lines, left_out = [], 0
    for line, row in read_rows(path, _Text, remedy='a line looks like {"_id": "1", "text": "..."}'):
        _once(seen, row._id, path, line)
        gold = relevant.get(row._id)
        if not gold:
            left_out += 1
        elif not row.text.strip():
            raise InputError("empty query", path=path, line=line, remedy="write it, or remove the line")
        else:
            lines.append({"id": row._id, "category": CATEGORY, "question": row.text, "reference": "", "gold": gold})
    if not lines:
        raise InputError("no query has a relevant document", path=qrels, remedy="use files that belong together")
    return Judged(tuple(lines), left_out, qrels)


@dataclass(frozen=True, slots=True)
class _Text:
    _id: str
    text: str = ""
    title: str = ""


def _once(seen: dict[str, int], name: str, path: Path, line: int) -> None:
    if name in seen or not name.strip():
        problem = f"_id {name!r} occurs twice, first in line {seen[name]}" if name in seen else "empty _id"
        raise InputError(problem, path=path, line=line, remedy="give each line its own _id")
    seen[name] = line


def _qrels_of(folder: Path) -> Path:
    for split in _SPLITS:
        if (path := folder / QRELS / f"{split}.tsv").is_file():
            return path
    raise InputError("no file of relevance", path=folder / QRELS, remedy="put test.tsv there")


def _relevant(path: Path, known: Collection[str]) -> Mapping[str, list[str]]:
    relevant: dict[str, list[str]] = {}
    for number, line in enumerate(path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), start=1):
        try:
            cells = line.decode().removesuffix("\r").split("\t")
        except UnicodeDecodeError as error:
            raise InputError("not utf-8", path=path, line=number, remedy="save it as UTF-8") from error
        if not line.strip() or (number == 1 and len(cells) == 3 and not _is_whole(cells[2])):
            continue  # the heading
        if len(cells) != 3 or not _is_whole(cells[2]):
            raise InputError(f"not a line of relevance: {line.decode()!r}", path=path, line=number, remedy=_RELEVANCE)
        query, document, relevance = cells
        if int(relevance) > 0:
            if document not in known:
                problem = f"document {document!r} is not in {CORPUS}, or is empty there"
                raise InputError(problem, path=path, line=number, remedy="add it, or remove this line")
            relevant.setdefault(query, []).append(document)
    return relevant


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text.strip()) is not None
