"""A reply as chat completion chunks, byte for byte as that API frames them. Pure; knows no time.

Order: a chunk with the role, one chunk a token of text or arguments, each call opened by a chunk with its id and name,
one with the finish reason, one with the usage and no choice where it was asked for, `[DONE]`. Reasoning shows in the
time before the first of them and in the usage alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from loadrig.simulator.cache import Charge
from loadrig.simulator.chat.request import OUR_CALL, THEIR_CALL
from loadrig.simulator.reply import Call, Reply
from loadrig.simulator.stream import Envelope, Event

CREATED = 1_700_000_000
"""Seconds, the same for every reply: a rerun gives the same bytes."""
KEEP_ALIVE = Event("frame", b": keep-alive\n\n")
DONE = b"data: [DONE]\n\n"
WORDS: Mapping[str, str] = MappingProxyType(
    {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
)
_encode = msgspec.json.encode


def frame(data: object) -> bytes:
    """One server-sent event without a name."""
    return b"data: " + _encode(data) + b"\n\n"


def events(envelope: Envelope, reply: Reply) -> list[Event]:
    """The reply's events in order; the steps sum to its output tokens."""
    head = _fields(envelope, "chat.completion.chunk")
    before = b"data: " + _encode(head)[:-1] + b',"choices":[{"index":0,"delta":'
    after = _after(None, envelope)

    def chunk(delta: object) -> bytes:
        return before + _encode(delta) + after

    out = [Event("start", chunk({"role": "assistant", "content": "", "refusal": None}))]
    thought, number = reply.thinking_tokens, 0
    for block in reply.blocks:
        if isinstance(block, Call):
            called = {"index": number, "id": _theirs(block.id), "type": "function"}
            opened = {**called, "function": {"name": block.name, "arguments": ""}}
            out.append(Event("frame", chunk({"tool_calls": [opened]}), 3 + thought))
            parts = ({"index": number, "function": {"arguments": piece}} for piece in block.pieces)
            out += [Event("input", chunk({"tool_calls": [part]}), 1) for part in parts]
            thought, number = 0, number + 1
        else:
            for piece in block.pieces:
                out.append(Event("text", before + b'{"content":' + _encode(piece) + b"}" + after, 1 + thought))
                thought = 0
    out.append(Event("frame", before + b"{}" + _after(WORDS[reply.stop_reason], envelope), thought))
    if envelope.wants_usage:
        out.append(Event("frame", frame({**head, "choices": [], "usage": usage(envelope, reply)})))
    return [*out, Event("end", DONE)]


def message(envelope: Envelope, reply: Reply) -> dict[str, object]:
    """The whole completion, as a reply to a request without `stream`."""
    text = "".join(piece for block in reply.blocks if not isinstance(block, Call) for piece in block.pieces)
    calls = [
        {"id": _theirs(b.id), "type": "function", "function": {"name": b.name, "arguments": "".join(b.pieces)}}
        for b in reply.blocks
        if isinstance(b, Call)
    ]
    said: dict[str, object] = {"role": "assistant", "content": text or None, "refusal": None}
    choice = {"index": 0, "message": {**said, "tool_calls": calls} if calls else said, "logprobs": None}
    choices = [{**choice, "finish_reason": WORDS[reply.stop_reason]}]
    return {**_fields(envelope, "chat.completion"), "choices": choices, "usage": usage(envelope, reply)}


def usage(envelope: Envelope, reply: Reply) -> dict[str, object]:
    """Counters: cached tokens are part of the prompt's, reasoning is part of the completion's."""
    output, thinking = (round(envelope.reports_output * n) for n in (reply.output_tokens, reply.thinking_tokens))
    prompt = _prompt_tokens(envelope.charge)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": envelope.charge.read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": thinking, "audio_tokens": 0},
    }


def _after(reason: str | None, envelope: Envelope) -> bytes:
    """What follows a delta; where usage was asked for, every chunk but the last says that it has none."""
    none = b',"usage":null' if envelope.wants_usage else b""
    return b',"logprobs":null,"finish_reason":%b}]%b}\n\n' % (_encode(reason), none)


def _prompt_tokens(charge: Charge) -> int:
    return charge.uncached + charge.read


def _fields(envelope: Envelope, kind: str) -> dict[str, object]:
    identity = "chatcmpl-" + envelope.id.removeprefix("msg_")
    fixed = {"created": CREATED, "model": envelope.model, "system_fingerprint": "fp_simulated"}
    return {"id": identity, "object": kind, **fixed}


def _theirs(identity: str) -> str:
    return THEIR_CALL + identity.removeprefix(OUR_CALL)
