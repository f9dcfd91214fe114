"""Request bodies: the JSON that the official SDK would send, byte for byte, in fragments.

Rules: field order max_tokens, messages, model, stream, system, tools; compact; text raw in UTF-8. User content is
always a list of blocks. A static part is a fragment of its own, serialised once; what lies between static parts of a
message is joined. Messages come before model, system and tools, so the fragments of a longer conversation begin with
those of the shorter one. No sampling parameter is ever written: the API rejects them.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from loadrig.words.prompt import Ask, Message, Prompt, Said, Tool, ToolResult, ToolResults
from loadrig.words.settings import ModelSettings

_text = msgspec.json.Encoder().encode


def body(prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
    """Fragments in order: the opening, each message (one or more fragments), the closing."""
    fragments = [b'{"max_tokens":%d,"messages":[' % model.max_tokens]
    for position, message in enumerate(prompt.messages):
        fragments += _message(message, b"," if position else b"")
    fragments.append(_closing(model.id, prompt.system, prompt.tools))
    return tuple(fragments)


def _message(message: Message, comma: bytes) -> list[bytes]:
    match message:
        case Said():
            return [b'%b{"role":"assistant","content":%b}' % (comma, message.content)]
        case ToolResults():
            blocks = [_tool_result(result) for result in message.results]
            if message.text is not None:
                blocks.append(_block(message.text))
            return [b'%b{"role":"user","content":[%b]}' % (comma, b",".join(blocks))]
        case Ask():
            return _ask(message, comma)


def _ask(message: Ask, comma: bytes) -> list[bytes]:
    """Static blocks as they are, everything else between them joined."""
    fragments: list[bytes] = []
    pending = b'%b{"role":"user","content":[' % comma
    for position, part in enumerate(message.parts):
        if position:
            pending += b","
        if part.static:
            fragments += [pending, _static_block(part.text)]
            pending = b""
        else:
            pending += _block(part.text)
    fragments.append(pending + b"]}")
    return [fragment for fragment in fragments if fragment]


def _block(text: str) -> bytes:
    return b'{"type":"text","text":%b}' % _text(text)


@lru_cache(maxsize=256)
def _static_block(text: str) -> bytes:
    return _block(text)


def _tool_result(result: ToolResult) -> bytes:
    error = b',"is_error":true' if result.is_error else b""
    return b'{"type":"tool_result","tool_use_id":%b,"content":%b%b}' % (
        _text(result.call_id),
        _text(result.text),
        error,
    )


@lru_cache(maxsize=256)
def _closing(model: str, system: str, tools: tuple[Tool, ...]) -> bytes:
    closing = b'],"model":%b,"stream":true' % _text(model)
    if system:
        closing += b',"system":%b' % _text(system)
    if tools:
        closing += b',"tools":[%b]' % b",".join(_tool(tool) for tool in tools)
    return closing + b"}"


def _tool(tool: Tool) -> bytes:
    schema = msgspec.json.format(tool.schema.encode(), indent=-1)  # compact, keys in the order given
    return b'{"name":%b,"description":%b,"input_schema":%b}' % (_text(tool.name), _text(tool.description), schema)
