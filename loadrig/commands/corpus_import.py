"""`loadrig corpus import`: folders of texts, question sets and the BEIR layout brought into this one's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rich.console import Console
from rich.text import Text

from loadrig.corpus.importing import beir, columns, tables, texts
from loadrig.corpus.manifest import Entry
from loadrig.corpus.writing import CorpusWriter, check_free, cleared, write_lines
from loadrig.suggest import did_you_mean
from loadrig.words.corpus import Skipped
from loadrig.words.errors import InputError

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Import:
    """What is read and where it goes. `questions_out` is by default questions.jsonl in the new folder."""

    source: Path
    out: Path
    questions: Path | None = None
    questions_out: Path | None = None
    columns: str | None = None
    force: bool = False

    @property
    def key(self) -> Path:
        """The question file to write."""
        return self.questions_out or self.out / "questions.jsonl"


def run(job: Import) -> None:
    """Reads, writes, and says what was guessed, skipped and written."""
    console = Console()
    if job.source.is_file():
        _questions_only(job, console)
    elif not job.source.is_dir():
        raise InputError("no such file or folder", path=job.source, remedy="name a folder or a question set")
    elif beir.is_beir(job.source):
        _beir(job, console)
    else:
        _folder(job, console)


def _questions_only(job: Import, console: Console) -> None:
    if job.questions or job.questions_out:
        remedy = "leave it out: of a question set alone OUT is the file"
        raise InputError("--questions or --questions-out", path=job.source, remedy=remedy)
    table = tables.read_table(job.source, columns.parse(job.columns))
    check_free(job.out, source=job.source, force=job.force)
    count = write_lines(job.out, table.questions)
    _say(console, table.notes)
    _say(console, [f"{count:,} questions in {job.out}; their gold documents were not looked for"])


def _beir(job: Import, console: Console) -> None:
    if job.questions or job.columns:
        raise InputError(
            "--questions or --map", path=job.source, remedy="leave it out: this layout has its own queries"
        )
    ids = _ids(job, beir.documents(job.source))
    judged = beir.questions(job.source, ids)
    skipped = _write(job, beir.documents(job.source))
    count = write_lines(job.key, judged.questions)
    _say(console, _skipped(skipped))
    _say(console, [f"gold documents from {judged.qrels}; {judged.left_out:,} queries have none and are left out"])
    _say(console, ["no reference answers in this layout: recall is shown, answers cannot be graded"])
    _say(console, [f"{len(ids):,} documents in {job.out}, {count:,} questions in {job.key}"])


def _folder(job: Import, console: Console) -> None:
    if job.questions is None:
        if job.questions_out or job.columns:
            raise InputError("--questions-out or --map", path=job.source, remedy="name the set too: --questions SET")
        ids = _ids(job, texts.documents(job.source))
        _say(console, _skipped(_write(job, texts.documents(job.source))))
        _say(console, [f"{len(ids):,} documents in {job.out}"])
        return
    table = tables.read_table(job.questions, columns.parse(job.columns))
    ids = _ids(job, texts.documents(job.source))
    questions = [
        _with_gold(line, ids, job.questions, at) for line, at in zip(table.questions, table.lines, strict=True)
    ]
    _say(console, _skipped(_write(job, texts.documents(job.source))))
    count = write_lines(job.key, questions)
    _say(console, table.notes)
    _say(console, [f"{len(ids):,} documents in {job.out}, {count:,} questions in {job.key}"])


def _ids(job: Import, found: Iterable[tuple[Entry, bytes] | Skipped]) -> Collection[str]:
    """The ids of the documents, in their order: the source is read whole before anything is written or cleared."""
    ids = {one[0].id: None for one in found if not isinstance(one, Skipped)}
    if not ids:
        remedy = "name a folder of .txt or .md files, or of BEIR's"
        raise InputError("no document in it", path=job.source, remedy=remedy)
    return ids


def _write(job: Import, found: Iterable[tuple[Entry, bytes] | Skipped]) -> list[Skipped]:
    """Writes the folder and gives what was skipped; not begun where the questions could not follow."""
    if job.questions is not None or job.questions_out is not None:
        check_free(job.key, source=job.questions or job.source, force=job.force)
    skipped: list[Skipped] = []
    readme = (
        f"# {job.out.name}\n\nImported from `{job.source.name}` by\n\n    loadrig corpus import {job.source.name} OUT\n"
    )
    with CorpusWriter(cleared(job.out, source=job.source, force=job.force), None, readme) as writer:
        for one in found:
            if isinstance(one, Skipped):
                skipped.append(one)
            else:
                writer.add(*one)
    return skipped


def _with_gold(line: Line, ids: Collection[str], path: Path, at: int) -> Line:
    """The line with gold documents by their ids, also where it has them without folder or suffix."""
    if "gold" not in line:
        return line
    return {**line, "gold": [_document(name, ids, path, at) for name in line["gold"]]}


def _document(name: str, ids: Collection[str], path: Path, at: int) -> str:
    if name in ids:
        return name
    alike = [doc for doc in ids if name in (PurePosixPath(doc).name, PurePosixPath(doc).stem, doc.rpartition(".")[0])]
    if len(alike) == 1:
        return alike[0]
    problem = f"gold document {name!r} is not in the folder" if not alike else f"gold document {name!r} may be several"
    raise InputError(problem, path=path, line=at, remedy=did_you_mean(name, alike or ids))


def _skipped(skipped: Iterable[Skipped]) -> list[str]:
    return [f"{count:,} skipped: {reason}" for reason, count in Counter(one.reason for one in skipped).items()]


def _say(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        console.print(Text(note), soft_wrap=True)
