"""JSON as strangers send it: decoded where it can be, with characters that are none replaced.

Dialects take the short way, a typed decoder, for events as their API describes them; what that cannot read comes here.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

UNREADABLE = (msgspec.DecodeError, RecursionError)
REPLACED = "characters that are not valid text were replaced"
_decode = msgspec.json.Decoder().decode
# An escaped backslash, a surrogate pair, or (group 1) a surrogate alone, which is no character.
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def decoded(payload: bytes) -> tuple[Any, bool]:
    """The value, and whether characters had to be replaced: invalid UTF-8 and lone surrogates, as a character that the
    server itself cut leaves them. Raises one of `UNREADABLE` for what is no JSON all the same."""
    try:
        return _decode(payload), False
    except UNREADABLE:
        text = payload.decode(errors="replace").encode()
        return _decode(_SURROGATE.sub(lambda found: rb"\ufffd" if found[1] else found[0], text)), True


def not_json(payload: bytes, error: Exception) -> str:
    """What is said of an event that cannot be read: why, and how it begins."""
    return f"event is not JSON ({error}): {payload[:120].decode(errors='replace')}"


def mapping(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def string(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
