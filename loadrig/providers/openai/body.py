"""Request bodies: the JSON that the official SDK would send for the same arguments, byte for byte, in fragments.

Rules: field order model, stream, messages, the token limit, response_format, stream_options, tools; compact; text raw
in UTF-8. The instructions are the first message. A user's message is one text, its parts with a blank line between:
every server that speaks this takes a text, while what becomes of a list of parts is each server's own. A static part is
a fragment of its own, serialised once. What varies comes behind the messages, so the fragments of a longer conversation
begin with those of the shorter one. What nothing here has a place for: found texts that another dialect shows as blocks
are documents between tags, that a tool failed is told by its result's first word, a wish to keep a prefix is not sent.
No sampling parameter is ever written.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

import msgspec

from loadrig.arms.passages import whole
from loadrig.providers.schemas import compact
from loadrig.words.corpus import Document
from loadrig.words.prompt import Ask, Message, Part, Prompt, Said, SearchResult, Tool, ToolResult, ToolResults
from loadrig.words.settings import ModelSettings, TokenLimit

FAILED = "Error: "
_BETWEEN = rb"\n\n"
_OWN_HOST = "api.openai.com"
_encode = msgspec.json.Encoder().encode


def body(prompt: Prompt, model: ModelSettings) -> tuple[bytes, ...]:
    """Fragments in order: the opening with the instructions, each message (one or more fragments), the closing."""
    fragments = [_opening(model.id, prompt.system)]
    for position, message in enumerate(prompt.messages):
        fragments += _message(message, b"," if position or prompt.system else b"")
    most = model.max_tokens if prompt.max_tokens is None else prompt.max_tokens
    fragments.append(_closing(limit_of(model), most, prompt.form, prompt.tools))
    return tuple(fragments)


def limit_of(model: ModelSettings) -> TokenLimit:
    """What the limit of a reply's tokens is called: as the plan says, else by the newer name at the maker's own
    endpoint, whose reasoning models refuse the older one, which every other server knows."""
    if model.token_limit is not None:
        return model.token_limit
    is_own = model.base_url is None or urlsplit(model.base_url).hostname == _OWN_HOST
    return "max_completion_tokens" if is_own else "max_tokens"


@lru_cache(maxsize=256)
def _opening(model: str, system: str) -> bytes:
    opening = b'{"model":%b,"stream":true,"messages":[' % _encode(model)
    return opening + (b'{"role":"system","content":%b}' % _encode(system) if system else b"")


def _message(message: Message, comma: bytes) -> list[bytes]:
    match message:
        case Said():
            return [comma + message.content]
        case ToolResults():
            told = [b'{"role":"tool","content":%b,"tool_call_id":%b}' % _result(one) for one in message.results]
            if message.text is not None:
                told.append(b'{"role":"user","content":%b}' % _encode(message.text))
            return [comma + b",".join(told)]
        case Ask():
            return _ask(message, comma)


def _ask(message: Ask, comma: bytes) -> list[bytes]:
    """Static parts as they are, everything else between them joined."""
    fragments: list[bytes] = []
    pending = b'%b{"role":"user","content":"' % comma
    for position, part in enumerate(message.parts):
        if position:
            pending += _BETWEEN
        if part.static:
            fragments += [pending, _static(part.text)]
            pending = b""
        else:
            pending += _inner(_part(part))
    fragments.append(pending + b'"}')
    return [fragment for fragment in fragments if fragment]


def _inner(text: str) -> bytes:
    """The text as it stands inside a JSON string."""
    return _encode(text)[1:-1]


_static = lru_cache(maxsize=256)(_inner)


def _part(part: Part | SearchResult) -> str:
    return _document(part) if isinstance(part, SearchResult) else part.text


def _result(result: ToolResult) -> tuple[bytes, bytes]:
    text = "\n\n".join(map(_document, result.shown)) if result.shown else result.text
    return _encode(FAILED + text if result.is_error else text), _encode(result.call_id)


def _document(found: SearchResult) -> str:
    return whole(Document(found.source, "\n\n".join(found.texts), 0, found.title))


@lru_cache(maxsize=256)
def _closing(limit: str, most: int, form: str | None, tools: tuple[Tool, ...]) -> bytes:
    closing = b'],"%b":%d' % (limit.encode(), most)
    if form is not None:
        wanted = b'{"name":"reply","schema":%b,"strict":true}' % compact(form)
        closing += b',"response_format":{"type":"json_schema","json_schema":%b}' % wanted
    closing += b',"stream_options":{"include_usage":true}'
    if tools:
        closing += b',"tools":[%b]' % b",".join(map(_tool, tools))
    return closing + b"}"


def _tool(tool: Tool) -> bytes:
    return b'{"type":"function","function":{"name":%b,"description":%b,"parameters":%b}}' % (
        _encode(tool.name),
        _encode(tool.description),
        compact(tool.schema),
    )
