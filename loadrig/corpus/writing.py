"""Puts a made corpus on disk: documents one by one as they come, so that its size does not show in memory.

Rules: nothing that stands there is lost unless asked. A folder that holds something is refused, and with `force` only
one whose read-me says that such a command made it is cleared, of what these commands write. A corpus never goes into
the folder that it is made from.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from loadrig.corpus import ledger as ledgers
from loadrig.corpus import manifest, slices
from loadrig.corpus.ledger import Ledger
from loadrig.corpus.manifest import Entry
from loadrig.words.errors import InputError

README = "README.md"
DOCS = "docs"
_MADE = re.compile(r"^    loadrig corpus (?:harden|enlarge|rename|import|needles) ", re.MULTILINE)
_OURS = (manifest.NAME, ledgers.NAME, slices.NAME, README)


def cleared(folder: Path, *, source: Path, force: bool) -> Path:
    """The folder, empty and there. Raises `InputError` when it holds something that may not go."""
    target, origin = folder.resolve(), source.resolve()
    if target == origin or origin in target.parents or target in origin.parents:
        raise InputError(
            "the new corpus would lie in the old one, or round it", path=folder, remedy="name another folder"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        if not force:
            raise InputError("is there already", path=folder, remedy="name another folder, or overwrite with --force")
        if not _is_made(target / README):
            remedy = "remove it by hand, or name another folder"
            raise InputError("holds no corpus that a command made: not cleared", path=folder, remedy=remedy)
        shutil.rmtree(target / DOCS, ignore_errors=True)
        for name in _OURS:
            (target / name).unlink(missing_ok=True)
    _made(target / DOCS, folder)
    return target


class CorpusWriter:
    """Writes read-me and ledger, then documents and their manifest lines as they come. `root` is there and empty."""

    def __init__(self, root: Path, ledger: Ledger | None, readme: str) -> None:
        self.root = root
        self.ledger = ledger
        self.readme = readme
        self.documents = 0
        self._open = ExitStack()
        self._manifest: IO[bytes] | None = None

    def __enter__(self) -> CorpusWriter:
        (self.root / README).write_text(self.readme, encoding="utf-8", newline="\n")
        if self.ledger is not None:
            ledger = msgspec.json.format(msgspec.json.encode(self.ledger), indent=2)
            (self.root / ledgers.NAME).write_bytes(ledger + b"\n")
        self._manifest = self._open.enter_context((self.root / manifest.NAME).open("wb"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def add(self, entry: Entry, content: bytes) -> None:
        """A document and its line."""
        assert self._manifest is not None, "the writer is entered before it writes"
        path = self.root / entry.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._manifest.write(row(_entry(entry)))
        self.documents += 1


def check_free(path: Path, *, source: Path, force: bool) -> None:
    """Raises `InputError` when a question file may not be written there: with `force` only over another one."""
    if not path.exists():
        return
    if path.resolve() == source.resolve():
        raise InputError("is what the questions are read from", path=path, remedy="name another file")
    if not force:
        raise InputError("is there already", path=path, remedy="name another file, or overwrite with --force")
    if not _is_key(path):
        raise InputError("is no question file: not written over", path=path, remedy="name another file")


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a question file, where `check_free` has nothing against it, and gives the number of its lines."""
    _made(path.parent, path)
    count = 0
    with path.open("wb") as file:
        for line in lines:
            file.write(row(line))
            count += 1
    return count


def row(value: object) -> bytes:
    """One JSON line, with a blank behind commas and colons as people write them."""
    return msgspec.json.format(msgspec.json.encode(value), indent=0) + b"\n"


def _made(folder: Path, asked: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be made: {error.strerror}"
        raise InputError(problem, path=asked, remedy="name a place that can be written to") from error


def _is_key(path: Path) -> bool:
    """Whether a file is empty or begins with a question."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline()
    try:
        return not first or "question" in msgspec.json.decode(first, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False


def _is_made(readme: Path) -> bool:
    return readme.is_file() and _MADE.search(readme.read_text("utf-8", errors="replace")) is not None


def _entry(entry: Entry) -> dict[str, object]:
    """A manifest line without what is not known."""
    known = msgspec.to_builtins(entry)
    return {key: value for key, value in known.items() if value}
