"""Reads a streamed chat completion: payload in, kind of event out; text, tool calls, stop reason and usage at the end.

Rules: one choice is read, the first by number. A reply is complete when it has said why it ended; `[DONE]` and the end
of the HTTP message only say that nothing follows. Reasoning is told by `reasoning_content`, by `reasoning` or by a part
of the content with a `thinking`, and is no answer; tokens of reasoning without its text are hidden thinking. What a
refusal says is text, and makes the reply one. Chunks as the API describes them take the short way, a typed decoder; all
else is brought into that shape first, so that both ways mean the same. Knows no time and no HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from loadrig.marks import Kind
from loadrig.providers import ApiError, Heard
from loadrig.providers.foreign import REPLACED, UNREADABLE, decoded, mapping, not_json, string
from loadrig.providers.openai.calls import Calls, Function, Piece, replayed
from loadrig.providers.openai.errors import error_in
from loadrig.providers.openai.usage import Counted, UsageMeter
from loadrig.words.prompt import Said

Stop = Literal["end", "tools", "max_tokens", "refusal", "other"]
STOPS: Mapping[str, Stop] = MappingProxyType({
    "stop": "end",
    "length": "max_tokens",
    "tool_calls": "tools",
    "function_call": "tools",
    "content_filter": "refusal",
})  # fmt: skip
DONE = b"[DONE]"
_NO_REASON = (None, "", "null")  # how servers say, chunk after chunk, that the reply goes on
_MOST_NOTES = 8
_OWN_ID = "a tool call came without an id of its own and was given one"


class _Delta(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Piece] | None = None
    function_call: Function | None = None


class _Choice(msgspec.Struct, gc=False):
    index: int = 0
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: Counted | None = None
    error: Any = None
    id: str | None = None
    model: str | None = None
    service_tier: str | None = None


class _Next(msgspec.Struct, gc=False):
    """A chunk after those that named the reply: what every one of them repeats is passed over."""

    choices: list[_Choice] | None = None
    usage: Counted | None = None
    error: Any = None


_first = msgspec.json.Decoder(_Chunk).decode
_next = msgspec.json.Decoder(_Next).decode
_encode = msgspec.json.Encoder().encode
_TEXT, _THINKING, _EMPTY, _OTHER = Kind.TEXT, Kind.THINKING, Kind.EMPTY, Kind.OTHER  # as dear to look up as to decode


class ChatReader:
    """One stream's reader; see `loadrig.providers.Reader`."""

    __slots__ = (
        "_begun",
        "_calls",
        "_error",
        "_id",
        "_malformed",
        "_model",
        "_named",
        "_notes",
        "_reason",
        "_refusal",
        "_text",
        "_thought",
        "_tier",
        "_usage",
        "ended",
    )

    def __init__(self) -> None:
        self.ended = False
        self._begun = self._named = self._thought = False
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls = Calls()
        self._usage = UsageMeter()
        self._id: str | None = None
        self._model: str | None = None
        self._tier: str | None = None
        self._reason: str | None = None
        self._error: ApiError | None = None
        self._malformed: str | None = None
        self._notes: dict[str, None] = {}

    def feed(self, payload: bytes) -> Kind:
        try:
            chunk: _Chunk | _Next = _next(payload) if self._named else _first(payload)
        except UNREADABLE:  # `[DONE]`, not JSON, or JSON of other types than ours
            return self._foreign(payload)
        choices, usage = chunk.choices, chunk.usage
        if chunk.error or not (choices or usage):
            return self._foreign(payload)
        kind = self._choices(choices) if choices else _OTHER
        if usage is not None:
            self._usage.take(usage, final=self._reason is not None)
        return kind if isinstance(chunk, _Next) else self._opened(chunk, kind)

    def heard(self) -> Heard:
        complete = self._error is None and self._malformed is None and self._reason is not None
        text = "".join((*self._text, *self._refusal))
        uses, are_ours = self._calls.uses()
        if are_ours:
            self._note(_OWN_ID)
        message: dict[str, Any] = {"role": "assistant", "content": text or (None if uses else "")}
        if uses:
            message["tool_calls"] = [replayed(use) for use in uses]
        usage = self._usage.total(complete=complete, generated=bool(text or uses or self._thought))
        return Heard(
            text=text,
            tool_uses=uses,
            said=Said(_encode(message)),
            complete=complete,
            usage=msgspec.structs.replace(usage, service_tier=self._tier),
            stop=self._stop(),
            stop_reason=self._reason,
            model=self._model,
            hidden_thinking=self._usage.thinking > 0 and not self._thought,
            error=self._error,
            malformed=self._malformed,
            notes=tuple(self._notes),
            id=self._id,
        )

    def _stop(self) -> Stop | None:
        if self._reason is None:
            return None
        if self._refusal:
            return "refusal"
        stop = STOPS.get(self._reason, "other")
        return "tools" if stop == "end" and self._calls else stop  # some servers say `stop` whatever was asked for

    def _opened(self, chunk: _Chunk, kind: Kind) -> Kind:
        """Takes the names of the reply. The first chunk opens it, unless it brought something already."""
        self._id = self._id or chunk.id or None
        self._model = self._model or chunk.model or None
        self._tier = self._tier or chunk.service_tier or None
        self._named = self._model is not None and self._id is not None and bool(chunk.choices)
        is_first, self._begun = not self._begun, True
        return Kind.START if is_first and kind in (_EMPTY, _OTHER) else kind

    def _choices(self, choices: list[_Choice]) -> Kind:
        """Of one or more; the first is the one with the number 0, wherever it stands."""
        choice = choices[0]
        if choice.index or len(choices) > 1:
            self._note("more than one choice: the first is read")
            choice = next((one for one in choices if not one.index), choice)
        return _OTHER if choice.index else self._choice(choice)

    def _choice(self, choice: _Choice) -> Kind:
        delta = choice.delta or choice.message
        if choice.finish_reason not in _NO_REASON:
            self._reason = choice.finish_reason
        if delta is None:
            return _OTHER
        kind = _OTHER
        if delta.tool_calls is not None or delta.function_call is not None:
            kind = self._called(delta)
        thought = delta.reasoning_content or delta.reasoning
        if thought:
            self._thought = True
            kind = _THINKING
        if delta.refusal:
            self._refusal.append(delta.refusal)
            kind = _TEXT
        content = delta.content
        if content:
            self._text.append(content)
            return _TEXT
        return _EMPTY if content is not None and kind is _OTHER else kind

    def _called(self, delta: _Delta) -> Kind:
        pieces = list(delta.tool_calls or ())
        if delta.function_call is not None:
            pieces.append(Piece(-1, None, delta.function_call))
        taken = [self._calls.take(piece) for piece in pieces]
        if any(brought for _, brought in taken):
            return Kind.TOOL
        if any(is_new for is_new, _ in taken):
            return Kind.BLOCK
        return _EMPTY if taken else _OTHER

    def _foreign(self, payload: bytes) -> Kind:
        if payload.strip() == DONE:
            self.ended = True
            return Kind.STOP
        try:
            value, was_replaced = decoded(payload)
        except UNREADABLE as error:
            if not payload.strip():
                return _OTHER
            self._malformed = not_json(payload, error)
            self.ended = True
            return Kind.ERROR
        if was_replaced:
            self._note(REPLACED)
        return self._loose(value)

    def _loose(self, value: object) -> Kind:
        """A chunk that may hold anything."""
        error = error_in(value)
        if error is not None:
            return self._failed(error)
        event = mapping(value)
        told = event.get("choices")
        choices = [_choice_of(mapping(one)) for one in told] if isinstance(told, list) else []
        if not isinstance(told, list) and not isinstance(event.get("usage"), dict):
            self._note(f"an event that is no chunk: {string(event.get('object')) or 'no name'}")
        kind = self._choices(choices) if choices else _OTHER
        self._usage.take_any(event.get("usage"), final=self._reason is not None)
        if self._named:
            return kind
        names = (string(event.get(key)) for key in ("id", "model", "service_tier"))
        return self._opened(_Chunk([_Choice()] if choices else None, None, None, *names), kind)

    def _failed(self, told: ApiError) -> Kind:
        self._error = told
        self.ended = True
        return Kind.ERROR

    def _note(self, note: str) -> None:
        if len(self._notes) < _MOST_NOTES:
            self._notes[note[:120]] = None


def _choice_of(choice: Mapping[str, Any]) -> _Choice:
    reason, index = choice.get("finish_reason"), choice.get("index")
    delta = choice.get("delta")
    delta = delta if isinstance(delta, dict) else mapping(choice.get("message"))
    return _Choice(
        index if isinstance(index, int) else 0,
        _delta_of(delta),
        None,
        reason if reason is None or isinstance(reason, str) else _encode(reason).decode(),
    )


def _delta_of(delta: Mapping[str, Any]) -> _Delta:
    pieces = delta.get("tool_calls")
    function = delta.get("function_call")
    return _Delta(
        content=_text_of(delta.get("content")),
        reasoning_content=_text_of(delta.get("reasoning_content")) or _thought_of(delta.get("content")),
        reasoning=_text_of(delta.get("reasoning")),
        refusal=_text_of(delta.get("refusal")),
        tool_calls=[_piece_of(mapping(piece)) for piece in pieces] if isinstance(pieces, list) else None,
        function_call=_function_of(function) if isinstance(function, dict) else None,
    )


def _text_of(content: object) -> str | None:
    """A text, or those of a list of parts."""
    if isinstance(content, list):
        return "".join(string(mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else None


def _thought_of(content: object) -> str | None:
    """What parts of a list say under `thinking`, a text or parts again."""
    parts = content if isinstance(content, list) else []
    return "".join(_text_of(mapping(part).get("thinking")) or "" for part in parts) or None


def _piece_of(piece: Mapping[str, Any]) -> Piece:
    index, identity = piece.get("index"), piece.get("id")
    return Piece(
        index if isinstance(index, int) and not isinstance(index, bool) else None,
        str(identity) if isinstance(identity, str | int) else None,
        _function_of(mapping(piece.get("function"))),
    )


def _function_of(function: Mapping[str, Any]) -> Function:
    """Arguments that came as an object, as some send them, are its JSON."""
    arguments = function.get("arguments")
    text = arguments if arguments is None or isinstance(arguments, str) else _encode(arguments).decode()
    return Function(string(function.get("name")), text)
