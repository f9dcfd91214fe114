"""The same names as `stream_events`, for the events of a chat completion: what one test says in both dialects.

What a Messages stream frames apart has no event here: `blk("text")`, `end()` and `signature()` are no bytes, a ping is
a comment. Stop reasons and counters are given in the terms of the other dialect and sent in this one's.
"""

from __future__ import annotations

import json
from typing import Any

PROVIDER = "openai"
REASONS = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length",
    "refusal": "content_filter",
}  # fmt: skip
NAMED = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1"}
DONE = b"data: [DONE]\n\n"


def event(payload: Any, end: str = "\n") -> bytes:
    """Any event; they have no names."""
    return f"data: {json.dumps(payload, ensure_ascii=False, separators=(',', ':'))}{end}{end}".encode()


def chunk(delta: dict[str, Any] | None, reason: str | None = None, **fields: Any) -> bytes:
    choice = {"index": 0, **({} if delta is None else {"delta": delta}), "finish_reason": reason}
    return event({**NAMED, "choices": [choice], **fields})


def usage(prompt: int | None = 9, completion: int | None = 5, **fields: Any) -> bytes:
    """The last chunk: counters and no choice."""
    counted = {"prompt_tokens": prompt, "completion_tokens": completion, **fields}
    return event({**NAMED, "choices": [], "usage": counted})


def start(model: str = "m-1", **counted: Any) -> bytes:
    more = {"usage": translated(counted)} if counted else {}
    return chunk({"role": "assistant", "content": ""}, model=model, **more)


def blk(kind: str, index: int = 0, **fields: Any) -> bytes:
    if kind != "tool_use":
        return b""
    function = {"name": fields.get("name", "find"), "arguments": ""}
    return chunk({"tool_calls": [{"index": index, "id": fields.get("id", "toolu_1"), "function": function}]})


def txt(text: str, index: int = 0) -> bytes:
    return chunk({"content": text})


def think(text: str, index: int = 0) -> bytes:
    return chunk({"reasoning_content": text})


def json_(text: str, index: int = 0) -> bytes:
    return chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})


def signature(index: int = 0) -> bytes:
    return b""


def end(index: int = 0) -> bytes:
    return b""


def delta(reason: str | None, counted: dict[str, Any] | None = None) -> bytes:
    """The finish reason, then the counters."""
    told = {"prompt_tokens": 9, "completion_tokens": 5} if counted is None else translated(counted)
    last = event({**NAMED, "choices": [], "usage": told})
    return chunk({}, None if reason is None else REASONS.get(reason, reason)) + last


def translated(counted: dict[str, Any]) -> dict[str, Any]:
    """Counters of the Messages API as a chat completion has them: what was cached is part of the prompt."""
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    found = {names[name]: value for name, value in counted.items() if name in names}
    read, thinking = counted.get("cache_read_input_tokens"), counted.get("output_tokens_details", {})
    if read is not None:
        found["prompt_tokens_details"] = {"cached_tokens": read}
        found["prompt_tokens"] += read if isinstance(read, int) else 0
    if thinking:
        found["completion_tokens_details"] = {"reasoning_tokens": thinking["thinking_tokens"]}
    return found


def stop() -> bytes:
    return DONE


def ping() -> bytes:
    return b": ping\n\n"


def error(kind: str, message: str = "told so") -> bytes:
    return event({"error": {"type": kind, "message": message, "code": None}})


def reply(text: str = "Hello") -> bytes:
    """A whole plain reply in one piece."""
    return start() + txt(text) + delta("end_turn") + stop()
