"""Small corpora and question files on disk, for tests: what is in them is set by the test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from loadrig import corpus
from loadrig.words.corpus import Corpus
from loadrig.words.settings import CorpusSettings


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes the files below `folder`, which is made, and gives it back."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def rows(*objects: Mapping[str, Any]) -> str:
    """JSON lines."""
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in objects)


def loaded(folder: Path, files: Mapping[str, str | bytes], **settings: Any) -> Corpus:
    """The corpus of these files, written below `folder`."""
    return corpus.load(CorpusSettings(path=str(write(folder, files)), **settings))
