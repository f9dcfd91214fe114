"""Errors of chat completions endpoints, in a body or in a stream: whoever words them, they come to one shape.

Known shapes: `{"error": {"message", "type", "code"}}`, `{"error": "text"}`, `{"object": "error", "message", ...}`,
`{"detail": "text"}` and its list of problems, `{"message": ...}`, any of these alone in a list. Codes may be numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from loadrig.providers import ApiError
from loadrig.providers.foreign import UNREADABLE, mapping
from loadrig.providers.wording import words_of

_MOST_MESSAGE = 500
_SPEND_LIMITS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_HINTS = dict.fromkeys(_SPEND_LIMITS, "a spend limit; waiting does not lift it")


def error_in(value: object, *, of_status: bool = False) -> ApiError | None:
    """The error that a decoded body or event tells of; None when it tells of none. With an error's status a message is
    one; an event with a message, such as of a place in a queue, is one if it says so by its type or a code."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    found = mapping(value)
    if told := found.get("error"):
        return _worded(told)
    if "choices" in found:
        return None
    if found.get("object") == "error":
        return _worded(found)
    if isinstance(found.get("message"), str) and (of_status or _looks_like_one(found)):
        return _worded(found)
    return _worded(found["detail"]) if found.get("detail") else None


def _looks_like_one(found: Mapping[str, Any]) -> bool:
    return "error" in str(found.get("type")).lower() or found.get("code") is not None


def error_of_body(body: bytes) -> ApiError:
    """Of a reply with an error status; of any body that tells of no error, what it says."""
    try:
        told = error_in(msgspec.json.decode(body), of_status=True)
    except UNREADABLE:
        told = None
    return told or ApiError("", words_of(body))


def _worded(told: Any) -> ApiError:
    if not isinstance(told, dict):
        return _error("", _text(told), None)
    kind, code = told.get("type"), told.get("code")
    kind = kind if isinstance(kind, str) else ""
    message = _text(told.get("message") or told.get("detail") or ("" if kind or code is not None else told))
    return _error(kind, message, None if code is None or isinstance(code, dict | list) else str(code))


def _error(kind: str, message: str, code: str | None) -> ApiError:
    words = f"{kind} {code} {message}".lower()
    limited = {kind, code} & _SPEND_LIMITS
    return ApiError(
        kind[:100],
        message[:_MOST_MESSAGE],
        code=None if code is None else code[:100],
        overloaded="overloaded" in words or code == "529",
        rate_limited="rate_limit" in f"{kind} {code}" or code == "429",
        spend_limit=bool(limited),
        hint=_HINTS.get(next(iter(limited)) or "") if limited else None,
    )


def _text(told: object) -> str:
    """A text as it is; of a list of problems, as frameworks give them, what is wrong where; else the JSON."""
    if isinstance(told, str):
        return told
    if isinstance(told, list) and all(isinstance(one, dict) and "msg" in one for one in told):
        return "; ".join(map(_problem, told))
    try:
        return msgspec.json.encode(told).decode()
    except RecursionError:
        return "an error nested too deeply to be told"


def _problem(one: Mapping[str, Any]) -> str:
    place = ".".join(map(str, one["loc"])) if isinstance(one.get("loc"), list) else ""
    return f"{place}: {one['msg']}" if place else str(one["msg"])
