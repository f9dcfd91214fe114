"""Request bodies: the JSON that the official SDK would send, byte for byte, in fragments.

Rules: field order max_tokens, messages, model, cache_control, output_config, stream, system, tools; compact; text raw
in UTF-8. User content is always a list of blocks. A static part is a fragment of its own, serialised once; what lies
between static parts of a message is joined. Messages come before model, system and tools, so the fragments of a longer
conversation begin with those of the shorter one. No sampling parameter is ever written: the API rejects them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from loadrig.providers.schemas import compact
from loadrig.words.prompt import Ask, Lifetime, Message, Part, Prompt, Said, SearchResult, Tool, ToolResult, ToolResults
from loadrig.words.settings import ModelSettings

_text = msgspec.json.Encoder().encode
_BREAKPOINTS: Mapping[Lifetime, bytes] = MappingProxyType(
    {"5m": b',"cache_control":{"type":"ephemeral"}', "1h": b',"cache_control":{"type":"ephemeral","ttl":"1h"}'}
)  # five minutes are what the API takes where none is named


def body(prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
    """Fragments in order: the opening, each message (one or more fragments), the closing."""
    most = model.max_tokens if prompt.max_tokens is None else prompt.max_tokens
    fragments = [b'{"max_tokens":%d,"messages":[' % most]
    for position, message in enumerate(prompt.messages):
        fragments += _message(message, b"," if position else b"")
    fragments.append(_closing(model.id, prompt.system, prompt.tools, prompt.form, prompt.cache))
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
            fragments += [pending, _static_block(part)]
            pending = b""
        else:
            pending += _part(part)
    fragments.append(pending + b"]}")
    return [fragment for fragment in fragments if fragment]


def _part(part: Part | SearchResult) -> bytes:
    return _search_result(part) if isinstance(part, SearchResult) else _block(part.text, part.cache)


def _block(text: str, cache: Lifetime | None = None) -> bytes:
    return b'{"type":"text","text":%b%b}' % (_text(text), b"" if cache is None else _BREAKPOINTS[cache])


_static_block = lru_cache(maxsize=256)(_part)


def _tool_result(result: ToolResult) -> bytes:
    error = b',"is_error":true' if result.is_error else b""
    shown = b",".join(map(_search_result, result.shown))
    content = b"[%b]" % shown if shown else _text(result.text)
    return b'{"type":"tool_result","tool_use_id":%b,"content":%b%b}' % (_text(result.call_id), content, error)


def _search_result(found: SearchResult) -> bytes:
    return b'{"type":"search_result","source":%b,"title":%b,"content":[%b],"citations":{"enabled":true}}' % (
        _text(found.source),
        _text(found.title),
        b",".join(map(_block, found.texts)),
    )


@lru_cache(maxsize=256)
def _closing(model: str, system: str, tools: tuple[Tool, ...], form: str | None, cache: Lifetime | None) -> bytes:
    closing = b'],"model":%b%b' % (_text(model), b"" if cache is None else _BREAKPOINTS[cache])
    if form is not None:
        closing += b',"output_config":{"format":{"type":"json_schema","schema":%b}}' % compact(form)
    closing += b',"stream":true'
    if system:
        closing += b',"system":%b' % _text(system)
    if tools:
        closing += b',"tools":[%b]' % b",".join(_tool(tool) for tool in tools)
    return closing + b"}"


def _tool(tool: Tool) -> bytes:
    return b'{"name":%b,"description":%b,"input_schema":%b}' % (
        _text(tool.name),
        _text(tool.description),
        compact(tool.schema),
    )
