"""The bytes of the null target's one reply, made once: chunked HTTP, one chunk an event, cut where time passes."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = (" one", " word", " after", " the", " other", " and", " nothing", " said", " in", " them")
EVENTS_BESIDE_TOKENS = 6  # message_start, content_block_start, ping; content_block_stop, message_delta, message_stop
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n"
    b"request-id: req_null\r\ntransfer-encoding: chunked\r\n\r\n"
)
_USAGE = '"input_tokens":25,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":'


def pieces(tokens: int, model: str) -> tuple[bytes, ...]:
    """The reply in `tokens` parts, 1 or more: all that comes up to the first token, each token, the last with the end.

    Their join is the whole reply: `tokens` text deltas and `EVENTS_BESIDE_TOKENS` other events.
    """
    parts = [_event(_delta(WORDS[number % len(WORDS)])) for number in range(tokens)]
    parts[0] = HEAD + b"".join(map(_event, _opening(model))) + parts[0]
    parts[-1] += b"".join(map(_event, _closing(tokens))) + b"0\r\n\r\n"
    return tuple(parts)


def _delta(word: str) -> str:
    return f'{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{word}"}}}}'


def _opening(model: str) -> Iterable[str]:
    message = (
        f'"id":"msg_null","type":"message","role":"assistant","model":"{model}","content":[],"stop_reason":null,'
        f'"stop_sequence":null,"usage":{{{_USAGE}1}}'
    )
    yield f'{{"type":"message_start","message":{{{message}}}}}'
    yield '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'
    yield '{"type":"ping"}'


def _closing(tokens: int) -> Iterable[str]:
    yield '{"type":"content_block_stop","index":0}'
    yield (
        '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},'
        f'"usage":{{{_USAGE}{tokens}}}}}'
    )
    yield '{"type":"message_stop"}'


def _event(payload: str) -> bytes:
    name = payload.split('"', 4)[3]
    body = f"event: {name}\ndata: {payload}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(body), body)
