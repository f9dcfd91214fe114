"""A request body as the Messages API takes it: decoded, checked, or refused in the API's own words.

Only what the simulator uses is looked at; content blocks stay foreign JSON (dicts). It does not know what a
document is, nor what will be answered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

Block = dict[str, Any]  # one content block, foreign JSON

_KNOWN = (
    "cache_control container context_management diagnostics inference_geo max_tokens messages metadata model "
    "output_config service_tier speed stop_sequences stream system thinking thread tool_choice tools user_profile_id "
    "workspace_id"
)
KNOWN = frozenset(_KNOWN.split())
GONE = ("temperature", "top_p", "top_k")
MAX_BREAKPOINTS = 4


class BadRequestError(Exception):
    """The body breaks the API's rules; the text is the message for the 400."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, its content always a list of blocks."""

    role: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """What a request asked for."""

    model: str
    max_tokens: int
    stream: bool
    thinks: bool
    system: tuple[Block, ...]
    tools: tuple[Block, ...]
    messages: tuple[Message, ...]
    automatic_cache: Block | None
    form: Block | None = None
    """The JSON schema that the reply's text must meet."""
    wants_usage: bool = True
    """A stream tells what it used."""


def user_texts(messages: tuple[Message, ...]) -> list[str]:
    """What the user said, text block by text block; what tools gave back is none."""
    return [block["text"] for m in messages if m.role == "user" for block in m.blocks if block["type"] == "text"]


def parse_request(body: bytes, *, counting: bool = False) -> Request:
    """Decode and check a body of POST /v1/messages (or, `counting`, of count_tokens). Raises BadRequestError."""
    try:
        fields = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise BadRequestError(f"The request body is not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BadRequestError("The request body must be a JSON object.")
    for key in GONE:
        if key in fields:
            raise BadRequestError(f"{key}: this parameter is not supported by this API version")
    if fields.get("thread") is not None:
        raise BadRequestError("thread: a conversation held by the server is not simulated")
    unknown = sorted(set(fields) - KNOWN)
    if unknown:
        raise BadRequestError(f"{unknown[0]}: Extra inputs are not permitted")
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequestError("model: Field required")
    thinking = fields.get("thinking")
    request = Request(
        model=model,
        max_tokens=0 if counting else _max_tokens(fields),
        stream=fields.get("stream") is True,
        thinks=not (isinstance(thinking, dict) and thinking.get("type") in ("disabled", "between_tools")),
        system=_blocks(fields.get("system", []), "system"),
        tools=_objects(fields.get("tools", []), "tools"),
        messages=_messages(fields),
        automatic_cache=fields.get("cache_control"),
        form=_form(fields.get("output_config")),
    )
    _check_breakpoints(request)
    return request


def _max_tokens(fields: Block) -> int:
    value = fields.get("max_tokens")
    if value is None:
        raise BadRequestError("max_tokens: Field required")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadRequestError("max_tokens: Input should be a non-negative integer")
    return value


def _form(config: object) -> Block | None:
    """The schema of `output_config.format`; None where there is none."""
    wish = config.get("format") if isinstance(config, dict) else None
    if wish is None:
        return None
    schema = wish.get("schema") if isinstance(wish, dict) and wish.get("type") == "json_schema" else None
    if not isinstance(schema, dict):
        raise BadRequestError("output_config.format: Input should be a json_schema with an object as its schema")
    _check_schema(schema)
    return schema


def _check_schema(schema: object) -> None:
    """Of an object nothing beside its named properties may be allowed; of an array it is said what is in it."""
    if not isinstance(schema, dict):
        raise BadRequestError("output_config.format.schema: Input should be an object")
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or not isinstance(properties, dict):
            raise BadRequestError(
                "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
            )
        for inner in properties.values():
            _check_schema(inner)
    if schema.get("type") == "array":
        _check_schema(schema.get("items"))


def _messages(fields: Block) -> tuple[Message, ...]:
    raw = fields.get("messages")
    if raw is None:
        raise BadRequestError("messages: Field required")
    if not isinstance(raw, list) or not raw:
        raise BadRequestError("messages: at least one message is required")
    messages = tuple(_message(entry, number) for number, entry in enumerate(raw))
    if messages[0].role != "user":
        raise BadRequestError("messages: first message must use the user role")
    if messages[-1].role == "assistant":
        raise BadRequestError("messages: the last message must use the user role; prefill is not supported")
    _check_tool_results(messages)
    return messages


def _message(entry: object, number: int) -> Message:
    if not isinstance(entry, dict) or entry.get("role") not in ("user", "assistant", "system"):
        raise BadRequestError(f"messages.{number}.role: Input should be 'user' or 'assistant'")
    blocks = _blocks(entry.get("content"), f"messages.{number}.content")
    if not blocks:
        raise BadRequestError(f"messages.{number}.content: must not be empty")
    return Message(entry["role"], blocks)


def _check_tool_results(messages: tuple[Message, ...]) -> None:
    """Every tool_use must be answered by a tool_result in the very next message."""
    for number, message in enumerate(messages):
        asked = {block.get("id") for block in message.blocks if block["type"] == "tool_use"}
        following = messages[number + 1].blocks if number + 1 < len(messages) else ()
        missing = asked - {block.get("tool_use_id") for block in following if block["type"] == "tool_result"}
        if missing:
            raise BadRequestError(
                f"messages.{number}: tool_use ids were found without tool_result blocks immediately after: {missing}"
            )


def _blocks(content: object, where: str) -> tuple[Block, ...]:
    if isinstance(content, str):
        return ({"type": "text", "text": content},) if content else ()
    blocks = _objects(content, where)
    for number, block in enumerate(blocks):
        if not isinstance(block.get("type"), str):
            raise BadRequestError(f"{where}.{number}.type: Field required")
        if block["type"] == "text" and not (isinstance(block.get("text"), str) and block["text"]):
            raise BadRequestError(f"{where}.{number}.text: text content blocks must be non-empty")
    return blocks


def _objects(value: object, where: str) -> tuple[Block, ...]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise BadRequestError(f"{where}: Input should be a list of objects")
    return tuple(value)


def _check_breakpoints(request: Request) -> None:
    content = [block for message in request.messages for block in message.blocks]
    marked = sum("cache_control" in block for block in (*request.tools, *request.system, *content))
    if marked + (request.automatic_cache is not None) > MAX_BREAKPOINTS:
        raise BadRequestError(f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided.")
