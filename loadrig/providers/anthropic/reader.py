"""Reads a streamed message: payload in, kind of event out; text, tool calls, stop reason and usage at the end.

Rules: the `type` inside the JSON decides. Unknown events, deltas, blocks and stop reasons pass through and are noted.
A reply is complete when it has said so (message_stop) or when its stop reason is known and no block is open. Events as
the API describes them take the short way, a typed decoder; all else is decoded as it comes. Knows no time and no HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from loadrig.marks import Kind
from loadrig.providers import ApiError, Heard
from loadrig.providers.anthropic.blocks import Block, citations, said, tool_uses
from loadrig.providers.anthropic.usage import Counted, UsageMeter
from loadrig.providers.foreign import REPLACED, UNREADABLE, decoded, mapping, not_json

Stop = Literal["end", "tools", "max_tokens", "refusal", "other"]
STOPS: Mapping[str, Stop] = MappingProxyType({
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",  # generation cut by a limit, like max_tokens
    "refusal": "refusal",
})  # fmt: skip
_SPEND_LIMITS = frozenset({"enforced_spend_limit_reached", "contract_spend_limit_reached"})
_RAMP_LIMIT = "ramp_limit_exceeded"
_HINTS = {
    _RAMP_LIMIT: "the load rose faster than this account may raise it; go up in smaller steps or warm up longer",
    **dict.fromkeys(_SPEND_LIMITS, "a spend limit; waiting does not lift it"),
}
_OWN_SPEND_LIMIT = "You have reached your specified API usage limits"  # a 400, told by its wording alone
_MOST_NOTES = 8
_UNOPENED = "the stream had no message_start: model and prompt tokens of the reply are not known"
_PLAIN = frozenset({"content_block_stop", "message_stop", "ping"})


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    partial_json: str = ""
    stop_reason: str | None = None
    stop_details: Any = None


class _Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    usage: Counted | None = None
    stop_reason: str | None = None
    stop_details: Any = None


class _Event(msgspec.Struct):
    type: str = ""
    index: int = 0
    delta: _Delta | None = None
    content_block: dict[str, Any] | None = None
    usage: Counted | None = None
    message: _Message | None = None


_TEXT = Kind.TEXT  # looking it up on the class costs as much as a third of the decoding
_decode_delta = msgspec.json.Decoder(_Event).decode


class MessageReader:
    """One stream's reader; see `loadrig.providers.Reader`."""

    __slots__ = (
        "_blocks",
        "_details",
        "_error",
        "_id",
        "_malformed",
        "_model",
        "_notes",
        "_open",
        "_opened",
        "_reason",
        "_usage",
        "ended",
    )

    def __init__(self) -> None:
        self.ended = False
        self._blocks: dict[int, Block] = {}
        self._open: set[int] = set()
        self._opened = False
        self._usage = UsageMeter()
        self._model: str | None = None
        self._id: str | None = None
        self._reason: str | None = None
        self._details: str | None = None
        self._error: ApiError | None = None
        self._malformed: str | None = None
        self._notes: dict[str, None] = {}

    def feed(self, payload: bytes) -> Kind:
        try:
            event = _decode_delta(payload)
        except UNREADABLE:  # not JSON, or JSON of other types than ours
            return self._foreign(payload)
        delta = event.delta
        if event.type == "content_block_delta" and delta is not None:
            block = self._blocks.get(event.index)
            if block is not None:
                match delta.type:
                    case "text_delta":
                        block.parts.append(delta.text)
                        return _TEXT if delta.text else Kind.EMPTY
                    case "thinking_delta":
                        block.parts.append(delta.thinking)
                        return Kind.THINKING if delta.thinking else Kind.EMPTY
                    case "input_json_delta":
                        block.parts.append(delta.partial_json)
                        return Kind.TOOL if delta.partial_json else Kind.EMPTY
        elif event.type in _PLAIN:
            return self._plain(event.type, event.index)
        kind = self._framing(event)
        return self._foreign(payload) if kind is None else kind

    def _framing(self, event: _Event) -> Kind | None:
        """What opens a message or a block, or ends a message; None for any other event."""
        match event.type:
            case "content_block_start" if event.content_block is not None:
                return self._block_start(event.index, event.content_block)
            case "message_delta" if event.delta is not None:
                self._stopping(event.delta.stop_reason, event.delta.stop_details)
                self._usage.take(event.usage, final=True)
                return Kind.OTHER
            case "message_start" if event.message is not None:
                message = event.message
                self._opened, self._model, self._id = True, message.model, message.id
                self._usage.take(message.usage, final=False)
                self._stopping(message.stop_reason, message.stop_details)
                return Kind.START
            case _:
                return None

    def heard(self) -> Heard:
        blocks = list(self._blocks.values())
        complete = self._error is None and self._malformed is None and self._is_complete()
        if complete and not self._opened:
            self._note(_UNOPENED)
        return Heard(
            text="".join(block.text for block in blocks),
            tool_uses=tool_uses(blocks),
            said=said(blocks),
            complete=complete,
            usage=self._usage.total(complete=complete),
            stop=None if self._reason is None else STOPS.get(self._reason, "other"),
            stop_reason=self._reason,
            stop_details=self._details,
            model=self._model,
            hidden_thinking=any(_is_hidden(block) for block in blocks),
            error=self._error,
            malformed=self._malformed,
            notes=tuple(self._notes),
            id=self._id,
            citations=citations(blocks),
        )

    def _is_complete(self) -> bool:
        return self._reason is not None and (self.ended or not self._open)

    def _foreign(self, payload: bytes) -> Kind:
        try:
            value, was_replaced = decoded(payload)
        except UNREADABLE as error:
            if not payload.strip():
                return Kind.OTHER
            self._malformed = not_json(payload, error)
            self.ended = True
            return Kind.ERROR
        if was_replaced:
            self._note(REPLACED)
        return self._rare(value)

    def _rare(self, event: object) -> Kind:
        """Every event but the common deltas, from plain JSON."""
        event = mapping(event)
        kind = Kind.OTHER
        match event.get("type"):
            case "message_start":
                kind = self._start(mapping(event.get("message")))
            case "content_block_start":
                kind = self._block_start(_index(event), mapping(event.get("content_block")))
            case "content_block_delta":
                kind = self._delta(_index(event), mapping(event.get("delta")))
            case "message_delta":
                delta = mapping(event.get("delta"))
                self._stopping(delta.get("stop_reason"), delta.get("stop_details"))
                self._usage.take_any(event.get("usage"), final=True)
            case "content_block_stop" | "message_stop" | "ping" as plain:
                kind = self._plain(plain, _index(event))
            case "error":
                self._error = api_error(mapping(event.get("error")))
                self.ended = True
                kind = Kind.ERROR
            case other:
                self._note(f"unknown event {other!r}")
        return kind

    def _start(self, message: Mapping[str, Any]) -> Kind:
        model, identity = message.get("model"), message.get("id")
        self._opened = True
        self._model = model if isinstance(model, str) else None
        self._id = identity if isinstance(identity, str) else None
        self._usage.take_any(message.get("usage"), final=False)
        self._stopping(message.get("stop_reason"), message.get("stop_details"))
        return Kind.START

    def _block_start(self, index: int, opening: Mapping[str, Any]) -> Kind:
        block = Block(dict(opening))
        self._blocks[index] = block
        self._open.add(index)
        match block.type:
            case "text" if block.text:
                return Kind.TEXT
            case "thinking" if block.thinking:
                return Kind.THINKING
            case "tool_use" if opening.get("input"):
                return Kind.TOOL
            case "text" | "thinking" | "tool_use" | "redacted_thinking":
                return Kind.BLOCK
            case other:
                self._note(f"unknown block {other!r}")
                return Kind.BLOCK

    def _plain(self, event: str, index: int) -> Kind:
        """An event that says no more than its type, and of which block it is."""
        if event == "content_block_stop":
            self._open.discard(index)
            return Kind.OTHER
        self.ended = self.ended or event == "message_stop"
        return Kind.STOP if event == "message_stop" else Kind.PING

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Kind:
        """A delta without its opening, or one that carries no plain text."""
        kind = delta.get("type")
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = Block(_opening_for(kind))
        for name, field, meaning in _CONTENT:
            if kind == name:
                piece = delta.get(field)
                if not isinstance(piece, str) or not piece:
                    return Kind.EMPTY
                block.parts.append(piece)
                return meaning
        match kind:
            case "signature_delta":
                signature = delta.get("signature")
                block.signature = signature if isinstance(signature, str) else None
                return Kind.SIGNATURE
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case _:
                self._note(f"unknown delta {kind!r}")
        return Kind.OTHER

    def _stopping(self, reason: object, details: object) -> None:
        if reason is not None:
            self._reason = reason if isinstance(reason, str) else msgspec.json.encode(reason).decode()
        if details is not None:
            self._details = msgspec.json.encode(details).decode()

    def _note(self, note: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes[note[:120]] = None


_CONTENT = (
    ("text_delta", "text", Kind.TEXT),
    ("thinking_delta", "thinking", Kind.THINKING),
    ("input_json_delta", "partial_json", Kind.TOOL),
)


def api_error(error: Mapping[str, Any]) -> ApiError:
    """An error object of the API, in a body or in an event."""
    type_, message = str(error.get("type") or ""), str(error.get("message") or "")
    named = mapping(error.get("details")).get("error_code")
    code = named[:100] if isinstance(named, str) else None
    return ApiError(
        type_, message[:500],
        code=code,
        overloaded=type_ == "overloaded_error",
        rate_limited=type_ == "rate_limit_error",
        spend_limit=code in _SPEND_LIMITS or message.startswith(_OWN_SPEND_LIMIT),
        hint=_HINTS.get(code or ""),
    )  # fmt: skip


def _is_hidden(block: Block) -> bool:
    return block.type == "redacted_thinking" or (block.type == "thinking" and not block.thinking)


def _opening_for(kind: object) -> dict[str, Any]:
    match kind:
        case "thinking_delta" | "signature_delta":
            return {"type": "thinking", "thinking": ""}
        case "input_json_delta":
            return {"type": "tool_use", "input": {}}
        case _:
            return {"type": "text", "text": ""}


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0
