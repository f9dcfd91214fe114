"""What differs between the APIs that the simulator speaks: how a request is read and a reply, or an error, is framed.

All else - the reader, the queue, the latency, the faults, the truth log - is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from loadrig.simulator.chat import errors as chat_errors
from loadrig.simulator.chat import request as chat_request
from loadrig.simulator.chat import stream as chat_stream
from loadrig.simulator.headers import Headers, Standing, chat_headers, messages_headers
from loadrig.simulator.reply import Reply
from loadrig.simulator.request import Request, parse_request
from loadrig.simulator.stream import PING, Envelope, Event, error_body, events, frame, message


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API. `parse` raises BadRequestError; `refusal` is the status and the body for (status, kind, message, request
    id); `silence` fills long waits; `stop_word` is what a stop reason is called; `tells_writes`: what is written to a
    cache is told, and charged for, apart."""

    parse: Callable[[bytes], Request]
    too_long: Callable[[int, int], str]
    events: Callable[[Envelope, Reply], list[Event]]
    message: Callable[[Envelope, Reply], object]
    refusal: Callable[[int, str, str, str], tuple[int, object]]
    error_event: Callable[[str, str, str], bytes]
    headers: Callable[[str, Standing], Headers]
    stop_word: Callable[[str], str]
    silence: Event
    tells_writes: bool


def _too_long(tokens: int, limit: int) -> str:
    return f"prompt is too long: {tokens} tokens > {limit} maximum"


def _refusal(status: int, kind: str, text: str, request_id: str) -> tuple[int, object]:
    return status, error_body(kind, text, request_id)


def _error_event(kind: str, text: str, request_id: str) -> bytes:
    return frame("error", error_body(kind, text, request_id))


MESSAGES, CHAT = "messages", "chat"
DIALECTS: Mapping[str, Dialect] = MappingProxyType({
    MESSAGES: Dialect(
        parse=parse_request, too_long=_too_long, events=events, message=message, refusal=_refusal,
        error_event=_error_event, headers=messages_headers, stop_word=str, silence=PING, tells_writes=True,
    ),
    CHAT: Dialect(
        parse=chat_request.parse_chat, too_long=chat_request.too_long, events=chat_stream.events,
        message=chat_stream.message, refusal=chat_errors.refusal, error_event=chat_errors.error_event,
        headers=chat_headers, stop_word=chat_stream.WORDS.__getitem__, silence=chat_stream.KEEP_ALIVE,
        tells_writes=False,
    ),
})  # fmt: skip
PATHS: Mapping[str, str] = MappingProxyType({"/v1/messages": MESSAGES, "/v1/chat/completions": CHAT})
