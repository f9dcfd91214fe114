"""One file into text, or the reason why not.

Rules: UTF-8, a leading mark taken off; line ends become LF; nothing else is changed (Unicode forms are made equal
where words are compared, in `retrievers.words`). What is not text to search in is named, never raised: an empty or
blank file, other encodings, binary content, a file that cannot be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file did not become a document."""

    reason: str


def read_text(path: Path) -> str | Unreadable:
    """The text of a file with LF line ends, or why there is none."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return Unreadable(f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        return Unreadable(f"not utf-8 (byte {error.start})")
    if "\0" in text:
        return Unreadable("not text: NUL bytes")
    if not text.strip():
        return Unreadable("empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")
