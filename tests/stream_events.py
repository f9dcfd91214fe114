"""Short names for the events of an Anthropic stream, as bytes ready to be sent: `txt("Hi")`, `delta("end_turn")`."""

from __future__ import annotations

import json
from typing import Any

PROVIDER = "anthropic"


def event(payload: dict[str, Any], end: str = "\n") -> bytes:
    """Any event, its name taken from its type."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return f"event: {payload['type']}{end}data: {text}{end}{end}".encode()


def start(model: str = "m-1", **usage: Any) -> bytes:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
    }
    return event(
        {"type": "message_start", "message": {**message, "usage": usage or {"input_tokens": 9, "output_tokens": 1}}}
    )


def blk(kind: str, index: int = 0, **fields: Any) -> bytes:
    empty: dict[str, dict[str, Any]] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"id": "toolu_1", "name": "find", "input": {}},
    }
    block = {"type": kind, **empty.get(kind, {}), **fields}
    return event({"type": "content_block_start", "index": index, "content_block": block})


def txt(text: str, index: int = 0) -> bytes:
    return piece({"type": "text_delta", "text": text}, index)


def think(text: str, index: int = 0) -> bytes:
    return piece({"type": "thinking_delta", "thinking": text}, index)


def json_(text: str, index: int = 0) -> bytes:
    return piece({"type": "input_json_delta", "partial_json": text}, index)


def signature(index: int = 0) -> bytes:
    return piece({"type": "signature_delta", "signature": "sig=="}, index)


def piece(delta: dict[str, Any], index: int = 0) -> bytes:
    return event({"type": "content_block_delta", "index": index, "delta": delta})


def end(index: int = 0) -> bytes:
    return event({"type": "content_block_stop", "index": index})


def delta(reason: str | None, usage: dict[str, Any] | None = None, **fields: Any) -> bytes:
    counted = {"output_tokens": 5} if usage is None else usage
    return event({"type": "message_delta", "delta": {"stop_reason": reason, **fields}, "usage": counted})


def stop() -> bytes:
    return event({"type": "message_stop"})


def ping() -> bytes:
    return event({"type": "ping"})


def error(kind: str, message: str = "told so") -> bytes:
    return event({"type": "error", "error": {"type": kind, "message": message}})


def reply(text: str = "Hello") -> bytes:
    """A whole plain reply in one piece."""
    return start() + blk("text") + txt(text) + end() + delta("end_turn") + stop()
