"""Streams damaged at random, for fuzzing: whole HTTP replies with an event stream inside, bent in a few places each.

Seeded: the same number gives the same bytes, in each dialect. Used by `tests/wire/test_fuzz.py` and
`benchmarks/fuzz.py`.
"""

from __future__ import annotations

import random
from itertools import pairwise

import chat_events as chat
import msgspec
from stream_events import blk, delta, end, error, event, json_, piece, ping, reply, signature, start, stop, think, txt

from loadrig.providers import load
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.head import Head
from loadrig.wire.record import Try, turn_of
from loadrig.wire.verdict import body_error, verdict
from loadrig.words.record import Turn

HEADLESS = Head(("http", "127.0.0.1", 1), b"", ())

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
MESSAGES = [
    reply("naïve \u2013 北 \U0001f511"),
    start() + blk("thinking") + think("hm") + signature() + end() + blk("text", 1) + txt("a", 1) + txt("b", 1) + end(1)
    + delta("end_turn", {"output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}}) + stop(),
    start() + blk("tool_use") + json_('{"q":') + ping() + json_('"x"}') + end() + delta("tool_use") + stop(),
    start(input_tokens=9, cache_creation_input_tokens=5, service_tier="standard", output_tokens=1) + blk("text")
    + txt("Part") + error("overloaded_error"),
    start() + blk("novelty", x=[{}]) + piece({"type": "odd"}) + event({"type": "brand_new"}) + delta("tired") + stop(),
    start() + delta("refusal", stop_details={"type": "refusal", "category": "bio"}) + stop(),
]  # fmt: skip
CHAT = [
    chat.reply("naïve \u2013 北 \U0001f511"),
    chat.start() + chat.think("hm") + chat.txt("a") + chat.txt("b")
    + chat.delta("end_turn", {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 3}})
    + chat.stop(),
    chat.start() + chat.blk("tool_use") + chat.json_('{"q":') + chat.ping() + chat.json_('"x"}')
    + chat.delta("tool_use") + chat.stop(),
    chat.start(input_tokens=9, output_tokens=1) + chat.txt("Part") + chat.error("overloaded_error"),
    chat.start() + chat.event({"object": "news"}) + chat.chunk({"odd": 1, "refusal": "no"}) + chat.delta("tired"),
    chat.start() + chat.chunk({"tool_calls": [{"id": "", "function": {"name": "f", "arguments": {"q": 1}}}] * 2})
    + chat.delta("end_turn", {"input_tokens": 12, "cache_read_input_tokens": 8, "output_tokens": 3}) + chat.stop(),
]  # fmt: skip
WHOLE = {"anthropic": MESSAGES, "openai": CHAT}
SPLICES = [
    b"\r\n", b"\r", b"\n\n", b"data:", b"data: \n\n", b": c\n\n", b"\xef\xbb\xbf", b"\x00", b"\xff\xfe", b"\xf0\x9f",
    b"{", b"}", b"[" * 2000, b"null", b"-1", b"1e999", b'"\\ud800"', b"0\r\n\r\n", b"fffffffff\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b'data: {"type":"content_block_start","index":-1,"content_block":null}\n\n', b'"index":true',
    b'"usage":{"output_tokens":-5}', b'"usage":{"prompt_tokens":-5,"completion_tokens":1e3}', b"data: [DONE]\n\n",
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":true}]}}]}\n\n', b'"choices":[]', b'"error":{}',
]  # fmt: skip


def damaged(number: int, provider: str = "anthropic") -> tuple[bytes, list[int]]:
    """Reply number so-and-so as bytes on the wire, and where to cut it into reads."""
    chance = random.Random(number)
    stream = b"".join(chance.choice(WHOLE[provider]) for _ in range(chance.randint(1, 6)))
    for _ in range(chance.randint(0, 6)):
        stream = _bent(stream, chance)
    if chance.random() < 0.5:
        wire = CHUNKED + _in_chunks(stream, chance) + b"0\r\n\r\n"
    else:
        wire = HEAD + b"content-length: %d\r\n\r\n" % (len(stream) + chance.choice([0, 0, 0, -3, 9])) + stream
    if chance.random() < 0.3:
        wire = _bent(wire, chance)
    cuts = sorted(chance.randint(0, len(wire)) for _ in range(chance.choice([0, 1, 5, 40])))
    return wire, cuts


def _bent(data: bytes, chance: random.Random) -> bytes:
    at, to = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
    to = min(to, at + 400)
    match chance.randint(0, 5):
        case 0:
            return data[:at] + data[to:]
        case 1:
            return data[:at] + chance.choice(SPLICES) + data[at:]
        case 2:
            return data[:at] + chance.randbytes(chance.randint(1, 8)) + data[at:]
        case 3:
            return data[:to] + data[at:to] * chance.randint(1, 5) + data[to:]
        case 4:
            return data[:at] + bytes([data[at] ^ (1 << chance.randint(0, 7))]) + data[at + 1 :] if data[at:] else data
        case _:
            return data[:at]


def _in_chunks(data: bytes, chance: random.Random) -> bytes:
    parts, at = [], 0
    while at < len(data):
        size = chance.choice([1, 7, 100, 4000])
        part = data[at : at + size]
        parts.append(b"%x\r\n%b\r\n" % (len(part), part))
        at += size
    return b"".join(parts)


def outcome_of(wire: bytes, cuts: list[int], provider: str = "anthropic") -> Turn:
    """What a reply comes to that arrives in these pieces, and then loses its connection. Raises what breaks us."""
    dialect = load(provider)
    exchange = Exchange(Request(HEADLESS, "t.1.1", (b"",)), dialect.reader())
    edges = [0, *cuts, len(wire)]
    for at_ns, (begin, to) in enumerate(pairwise(edges), start=1):
        if begin < to and exchange.failure is None:
            exchange.received(wire[begin:to], at_ns)
    exchange.gone("closed", len(edges) + 1)
    heard = exchange.reader.heard()
    told = heard.error or body_error(exchange, dialect)
    found = Try(exchange, heard, told, verdict(exchange, heard, told), backoff_ns=0, began_at="2026-03-01T12:00:00Z")
    return turn_of([found], (), ())


def check(number: int, provider: str = "anthropic") -> int:
    """Damaged reply number so-and-so: it comes to something that can be put on record, and to the same thing however it
    is cut. Returns the bytes that were read. Raises `AssertionError`, or whatever it broke."""
    wire, cuts = damaged(number, provider)
    turn = outcome_of(wire, cuts, provider)
    assert msgspec.json.decode(msgspec.json.encode(turn), type=Turn) == turn, number
    assert turn.outcome in ("answered", "unanswered", "failed"), number
    assert (turn.outcome == "failed") == (turn.attempts[0].failure is not None), number
    assert turn.ttft_ns is None or turn.ttft_ns > 0, number
    for counter in ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "thinking"):
        assert turn.usage is None or (getattr(turn.usage, counter) or 0) >= 0, number
    whole = outcome_of(wire, [], provider)
    same = [(one.outcome, one.reason, one.text, one.usage, one.stop_reason, one.reply_model) for one in (turn, whole)]
    assert same[0] == same[1], number
    return 2 * len(wire)
