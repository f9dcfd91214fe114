"""Errors as chat completions endpoints word them: the simulator's kinds, those of the Messages API, in their terms."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from loadrig.simulator.chat.stream import frame

_TOO_LONG = "This model's maximum context length"
# Kind: status, type, code, and a message where the API has one of its own.
_WORDS: Mapping[str, tuple[int, str, str | None, str | None]] = MappingProxyType({
    "rate_limit_error": (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    "overloaded_error": (
        503, "server_error", None, "The engine is currently overloaded, please try again later",
    ),
    "api_error": (500, "server_error", None, "The server had an error while processing your request."),
    "not_found_error": (404, "invalid_request_error", None, None),
    "invalid_request_error": (400, "invalid_request_error", None, None),
})  # fmt: skip


def refusal(status: int, kind: str, message: str, request_id: str) -> tuple[int, dict[str, object]]:
    """Status and body for a request that is turned away."""
    del status, request_id  # the status is the dialect's own, and the id stands in a header alone
    translated, named, code, own = _WORDS[kind]
    code = "context_length_exceeded" if message.startswith(_TOO_LONG) else code
    return translated, {"error": {"message": own or message, "type": named, "param": None, "code": code}}


def error_event(kind: str, message: str, request_id: str) -> bytes:
    """The same in a stream."""
    return frame(refusal(200, kind, message, request_id)[1])
