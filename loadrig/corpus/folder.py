"""Finds the text files of a folder and keeps paths inside it.

Rules: .txt and .md in any case, sub-folders too; names are relative POSIX paths, sorted. Links to folders are not
followed (what lies inside the corpus is found by its own path). Nothing outside the folder is ever read: a path or a
link that leads out is an `InputError`. Hidden files and folders and names that are not UTF-8 are named as skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath, PurePosixPath

from loadrig.words.corpus import Skipped
from loadrig.words.errors import InputError

SUFFIXES = (".txt", ".md")
_KEEP_INSIDE = "put the file below the corpus folder and name it by its relative path"


def text_files(root: Path) -> tuple[list[str], list[Skipped]]:
    """Names of the files to read, and those that are texts by name but cannot be documents. `root` is resolved."""
    names: list[str] = []
    skipped: list[Skipped] = []
    for path in sorted(_walk(root)):
        name = path.relative_to(root).as_posix()
        if reason := _no_document(root, path, name):
            skipped.append(Skipped(name.encode(errors="replace").decode(), reason))
        else:
            names.append(name)
    return names, skipped


def inside(root: Path, name: str, *, listed_in: Path, line: int) -> Path:
    """The file that a manifest names. Raises `InputError` when it leads out of the corpus or is not there."""
    path = root / name.replace("\0", "")  # the system refuses NUL in a name with an error of its own
    if PurePosixPath(name).is_absolute() or not _target(path).is_relative_to(root):
        raise InputError(f"file leads out of the corpus: {name}", path=listed_in, line=line, remedy=_KEEP_INSIDE)
    if not path.is_file():
        remedy = "correct the name, add the file, or remove the line"
        raise InputError(f"no such file: {name}", path=listed_in, line=line, remedy=remedy)
    return path


def _walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        for name in folders:
            path = Path(folder, name)
            if not _is_hidden(path.relative_to(root)):
                _refuse_link_out(root, path)
        yield from (Path(folder, name) for name in files if name.lower().endswith(SUFFIXES))


def _no_document(root: Path, path: Path, name: str) -> str | None:
    """Why a file with the right suffix is no document of its own."""
    if _is_hidden(PurePosixPath(name)):
        return "hidden"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "name is not utf-8"
    if path.is_symlink():
        _refuse_link_out(root, path)
        return f"link to {_target(path).relative_to(root).as_posix()}" if path.exists() else "broken link"
    return None


def _is_hidden(relative: PurePath) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _refuse_link_out(root: Path, path: Path) -> None:
    if path.is_symlink() and not _target(path).is_relative_to(root):
        remedy = "copy what it points to into the corpus, or remove the link"
        raise InputError("link leads out of the corpus", path=path, remedy=remedy)


def _target(path: Path) -> Path:
    """Where a path really leads; unlike `Path.resolve`, does not raise on a ring of links."""
    return Path(os.path.realpath(path))
