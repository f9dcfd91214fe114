"""A provider's key: in its usual environment variable, or in the file that `<variable>_FILE` names.

Rules: the file may be written anew while a run lasts, by whoever gives out keys for a while; so it is read each time.
Blank space round a key does not belong to it. Knows no provider; a key is in no error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loadrig.words.errors import InputError


def file_variable(variable: str) -> str:
    """Name of the variable that names a file with what `variable` would hold."""
    return f"{variable}_FILE"


def key_of(variable: str, environment: Mapping[str, str]) -> str:
    """The key as it is now; empty when there is none. Raises `InputError` for a file without one, or two places."""
    key, place = environment.get(variable, "").strip(), environment.get(file_variable(variable), "")
    if not place:
        return key
    if key:
        raise InputError(
            f"{variable} and {file_variable(variable)} are both set", remedy="unset one: which key is meant?"
        )
    try:
        key = Path(place).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the key cannot be read: {type(error).__name__}", path=place, remedy=f"correct {file_variable(variable)}"
        ) from error
    if not key:
        raise InputError("there is no key in the file", path=place, remedy="write the key into it, and nothing else")
    return key
