"""A reply as server-sent events, byte for byte as the Messages API frames them. Pure; knows no time.

Order: message_start, then for each block content_block_start, its deltas, content_block_stop; message_delta with
the final usage; message_stop. Thinking whose text is omitted shows only as a signature. One token a delta.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

import msgspec

from loadrig.simulator.cache import Charge
from loadrig.simulator.reply import Call, Cited, Reply, Text

Kind = Literal["start", "frame", "signature", "text", "input", "end", "error"]
CONTENT: tuple[Kind, ...] = ("text", "input")


@dataclass(frozen=True, slots=True)
class Event:
    """One event's bytes; `steps` is how many tokens are decoded before it may leave."""

    kind: Kind
    data: bytes
    steps: int = 0


PING = Event("frame", b'event: ping\ndata: {"type":"ping"}\n\n')


@dataclass(frozen=True, slots=True)
class Envelope:
    """What identifies a message beside its content, and what is reported of it: `reports_output` is a factor;
    `wants_usage`: a stream's usage was asked for, where a dialect tells it on request alone."""

    id: str
    model: str
    charge: Charge
    reports_output: float = 1.0
    wants_usage: bool = True


def frame(name: str, data: object) -> bytes:
    """One server-sent event: a name, one data line of JSON, a blank line."""
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"


def error_body(kind: str, message: str, request_id: str) -> dict[str, object]:
    """The API's error object, the same in a response body and in an `error` event."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def usage(charge: Charge) -> dict[str, object]:
    """Counters of the prompt, without output."""
    return {
        "input_tokens": charge.input,
        "cache_creation_input_tokens": charge.write_5m + charge.write_1h,
        "cache_read_input_tokens": charge.read,
    }


def _first_usage(charge: Charge, output_tokens: int) -> dict[str, object]:
    split = {"ephemeral_5m_input_tokens": charge.write_5m, "ephemeral_1h_input_tokens": charge.write_1h}
    known = {"cache_creation": split, "service_tier": "standard", "inference_geo": "not_available"}
    return {**usage(charge), **known, "output_tokens": output_tokens}


def _last_usage(envelope: Envelope, reply: Reply) -> dict[str, object]:
    output, thinking = (round(envelope.reports_output * n) for n in (reply.output_tokens, reply.thinking_tokens))
    counted: dict[str, object] = {**usage(envelope.charge), "output_tokens": output}
    if reply.thinking_tokens:
        counted["output_tokens_details"] = {"thinking_tokens": thinking}
    return counted


def message(envelope: Envelope, reply: Reply) -> dict[str, object]:
    """The whole message, as a reply to `stream: false`."""
    content: list[dict[str, object]] = []
    if reply.thinking_tokens:
        content.append({"type": "thinking", "thinking": "", "signature": _signature(envelope.id)})
    for block in reply.blocks:
        text = "".join(block.pieces)
        if isinstance(block, Call):
            content.append({"type": "tool_use", "id": block.id, "name": block.name, "input": msgspec.json.decode(text)})
        else:
            told = {"citations": list(map(_citation, block.citations))} if block.citations else {}
            content.append({"type": "text", "text": text, **told})
    final = {**_first_usage(envelope.charge, 0), **_last_usage(envelope, reply)}
    return {**_opening(envelope), "content": content, "usage": final, **_ending(reply)}


def events(envelope: Envelope, reply: Reply) -> list[Event]:
    """The reply's events in order; the steps sum to its output tokens."""
    opening = {**_opening(envelope), "content": [], "usage": _first_usage(envelope.charge, 1)}
    out = [Event("start", frame("message_start", {"type": "message_start", "message": opening}))]
    index = 0
    if reply.thinking_tokens:
        out += _thinking(envelope.id, reply.thinking_tokens)
        index = 1
    for number, block in enumerate(reply.blocks, index):
        out += _text(number, block) if isinstance(block, Text) else _call(number, block)
    if len(out) > 1:
        out.insert(2, PING)
    ended = {"type": "message_delta", "delta": _ending(reply), "usage": _last_usage(envelope, reply)}
    out.append(Event("frame", frame("message_delta", ended)))
    out.append(Event("end", frame("message_stop", {"type": "message_stop"})))
    return out


def _opening(envelope: Envelope) -> dict[str, object]:
    fixed = {"stop_reason": None, "stop_sequence": None, "stop_details": None}
    return {"id": envelope.id, "type": "message", "role": "assistant", "model": envelope.model, **fixed}


def _ending(reply: Reply) -> dict[str, object]:
    refused = reply.stop_reason == "refusal"
    details = {"type": "refusal", "category": None, "explanation": None} if refused else None
    return {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": details}


def _start(index: int, block: dict[str, object], steps: int = 0) -> Event:
    data = {"type": "content_block_start", "index": index, "content_block": block}
    return Event("frame", frame("content_block_start", data), steps)


def _delta(index: int, kind: Kind, delta: dict[str, object], steps: int) -> Event:
    return Event(
        kind, frame("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}), steps
    )


def _stop(index: int) -> Event:
    return Event("frame", frame("content_block_stop", {"type": "content_block_stop", "index": index}))


def _thinking(seed: str, steps: int) -> list[Event]:
    begun = _start(0, {"type": "thinking", "thinking": "", "signature": ""}, 1)
    signed = _delta(0, "signature", {"type": "signature_delta", "signature": _signature(seed)}, steps - 1)
    return [begun, signed, _stop(0)]


def _signature(seed: str) -> str:
    return "Er" + hashlib.sha512(seed.encode()).hexdigest()


def _text(index: int, block: Text) -> list[Event]:
    head = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,' % index
    head += b'"delta":{"type":"text_delta","text":'
    encode = msgspec.json.encode
    deltas = [Event("text", head + encode(piece) + b"}}\n\n", 1) for piece in block.pieces]
    opening: dict[str, object] = {"type": "text", "text": "", **({"citations": []} if block.citations else {})}
    cited = [_delta(index, "frame", {"type": "citations_delta", "citation": _citation(c)}, 0) for c in block.citations]
    return [_start(index, opening), *deltas, *cited, _stop(index)]


def _citation(cited: Cited) -> dict[str, object]:
    return {
        "type": "search_result_location", "cited_text": cited.text, "source": cited.source, "title": cited.title,
        "search_result_index": cited.result, "start_block_index": cited.start, "end_block_index": cited.end,
    }  # fmt: skip


def _call(index: int, block: Call) -> list[Event]:
    begun = _start(index, {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}, 3)
    empty = _delta(index, "frame", {"type": "input_json_delta", "partial_json": ""}, 0)
    parts = [_delta(index, "input", {"type": "input_json_delta", "partial_json": p}, 1) for p in block.pieces]
    return [begun, empty, *parts, _stop(index)]
