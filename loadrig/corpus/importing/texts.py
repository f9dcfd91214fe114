"""A folder of texts as a corpus with a manifest: ids from paths, titles from headings, dates from file names.

Rules: the texts stay byte for byte. A title is the first heading of a Markdown text; a date is one that stands in the
file's name as 2026-03-01. Files that cannot be documents are named with the reason, as when the folder itself is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from loadrig.corpus import manifest
from loadrig.corpus.folder import text_files
from loadrig.corpus.manifest import Entry
from loadrig.corpus.reading import Unreadable, read_text
from loadrig.words.corpus import Skipped
from loadrig.words.errors import InputError

_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_HEADING = re.compile(r"^#+ +(.+?)(?: +#+)?$", re.MULTILINE)


def documents(root: Path) -> Iterator[tuple[Entry, bytes] | Skipped]:
    """The documents of a folder, byte for byte, by path. Raises `InputError` when it is a corpus already."""
    if (root / manifest.NAME).exists():
        raise InputError("has a manifest already", path=root, remedy="use it as it is: it is a corpus")
    names, skipped = text_files(root.resolve())
    yield from skipped
    for name in names:
        text = read_text(root / name)
        if isinstance(text, Unreadable):
            yield Skipped(name, text.reason)
        else:
            heading = _HEADING.search(text)
            entry = Entry(name, f"docs/{name}", title=heading[1] if heading else None, date=_date(name))
            yield entry, (root / name).read_bytes()


def _date(name: str) -> str | None:
    return next(filter(manifest.is_iso, _DATE.findall(name)), None)
