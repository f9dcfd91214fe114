"""A body of POST /v1/chat/completions: decoded, checked, and brought into the shape in which the reader takes requests.

The reader knows one kind of conversation, that of the Messages API: instructions apart, tool results inside a user's
message. What is said there is said here in other places, and weighs the same: instructions are messages, each result is
one, and a user's text is one text, in which documents and what is asked behind them are told apart by the blank line
after the last of them. A result that begins with `Error: ` is one of a call that failed.
"""

from __future__ import annotations

from typing import Any

import msgspec

from loadrig.simulator.request import BadRequestError, Block, Message, Request

NO_LIMIT = 2**31 - 1
OUR_CALL, THEIR_CALL = "toolu_", "call_"
"""How ids of tool calls begin: for the reader, and on this dialect's wire."""
FAILED = "Error: "
ASKED = "\n\nQuestion:"

_KNOWN = (
    "audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages "
    "metadata modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier "
    "stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity "
    "web_search_options"
)
KNOWN = frozenset(_KNOWN.split())


def parse_chat(body: bytes) -> Request:
    """Raises BadRequestError."""
    try:
        fields = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise BadRequestError(f"We could not parse the JSON body of your request. ({error})") from error
    if not isinstance(fields, dict):
        raise BadRequestError("The body of your request must be a JSON object.")
    unknown = sorted(set(fields) - KNOWN)
    if unknown:
        raise BadRequestError(f"Unrecognized request argument supplied: {unknown[0]}")
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise BadRequestError("you must provide a model parameter")
    if fields.get("n") not in (None, 1):
        raise BadRequestError("Only n = 1 is simulated.")
    system, messages = _conversation(fields.get("messages"))
    options = fields.get("stream_options")
    return Request(
        model=model,
        max_tokens=_limit(fields),
        stream=fields.get("stream") is True,
        thinks=fields.get("reasoning_effort") != "none",
        system=system,
        tools=() if fields.get("tool_choice") == "none" else _tools(fields.get("tools")),
        messages=messages,
        automatic_cache=None,
        form=_form(fields.get("response_format")),
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
    )


def too_long(tokens: int, limit: int) -> str:
    """The words for a prompt beyond the context."""
    return f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens."


def _limit(fields: Block) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        value = fields.get(name)
        if value is not None:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BadRequestError(f"Invalid '{name}': integer below minimum value.")
            return value
    return NO_LIMIT


def _conversation(raw: object) -> tuple[tuple[Block, ...], tuple[Message, ...]]:
    """Instructions, and the messages in which results stand together as one of the user's."""
    if not isinstance(raw, list) or not raw:
        raise BadRequestError("Invalid 'messages': an array of at least one message is required.")
    system: list[Block] = []
    made: list[tuple[str, list[Block]]] = []
    owed: set[str] = set()
    for number, entry in enumerate(raw):
        role = entry.get("role") if isinstance(entry, dict) else None
        if role != "tool" and owed:
            raise BadRequestError(_unanswered(owed))
        match role:
            case "system" | "developer":
                system += _texts(entry, number)
            case "user":
                blocks = [part for block in _texts(entry, number) for part in _parts(block)]
                _add(made, blocks)
            case "assistant":
                blocks, owed = _said(entry, number)
                made.append(("assistant", blocks))
            case "tool":
                block = _result(entry, number, owed)
                _add(made, [block])
            case _:
                raise BadRequestError(f"Invalid value: '{role}' for 'messages[{number}].role'.")
    if owed:
        raise BadRequestError(_unanswered(owed))
    if not made:
        made.append(("user", []))
    return tuple(system), tuple(Message(role, tuple(blocks)) for role, blocks in made)


def _add(made: list[tuple[str, list[Block]]], blocks: list[Block]) -> None:
    """To the user's message: to the last one where that holds results, else as a new one."""
    if made and made[-1][0] == "user" and any(b["type"] == "tool_result" for b in made[-1][1]):
        made[-1][1].extend(blocks)
    else:
        made.append(("user", blocks))


def _unanswered(owed: set[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(sorted(owed))}"
    )


def _texts(entry: Block, number: int) -> list[Block]:
    """The content as blocks; parts that are no text stay what they are."""
    content = entry.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise BadRequestError(f"Invalid type for 'messages[{number}].content': expected a string or an array of parts.")
    for part in content:
        if not isinstance(part.get("type"), str) or (part["type"] == "text" and not isinstance(part.get("text"), str)):
            raise BadRequestError(f"Invalid content part in 'messages[{number}].content'.")
    return [part for part in content if part["type"] != "text" or part["text"]]


def _parts(block: Block) -> list[Block]:
    """A user's text, and apart from it what is asked behind its documents."""
    if block["type"] != "text":
        return [block]
    text = block["text"]
    end = text.rfind("</document>\n\n")
    at = end + len("</document>") if end >= 0 else text.rfind(ASKED)
    if at <= 0 or not text[at + 2 :].strip():
        return [block]
    return [{"type": "text", "text": text[:at]}, {"type": "text", "text": text[at + 2 :]}]


def _said(entry: Block, number: int) -> tuple[list[Block], set[str]]:
    """An assistant's message, and the ids of the calls in it."""
    calls = entry.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadRequestError(f"Invalid type for 'messages[{number}].tool_calls': expected an array.")
    blocks = _texts(entry, number) if entry.get("content") is not None else []
    ids: set[str] = set()
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(call.get("id"), str) or not call["id"]:
            raise BadRequestError(f"Invalid tool call in 'messages[{number}].tool_calls'.")
        ids.add(call["id"])
        arguments = _arguments(function.get("arguments"), number)
        blocks.append({"type": "tool_use", "id": _ours(call["id"]), "name": function.get("name"), "input": arguments})
    if not blocks:
        raise BadRequestError(f"'messages[{number}]': an assistant's message has content or tool calls.")
    return blocks, ids


def _arguments(text: object, number: int) -> Any:
    try:
        return msgspec.json.decode(text) if isinstance(text, str) else {}
    except msgspec.DecodeError as error:
        raise BadRequestError(f"Invalid arguments of a call in 'messages[{number}]': {error}") from error


def _result(entry: Block, number: int, owed: set[str]) -> Block:
    identity = entry.get("tool_call_id")
    if not isinstance(identity, str) or identity not in owed:
        raise BadRequestError(
            f"Invalid parameter: messages[{number}] with role 'tool' must be a response to a preceding message with "
            "'tool_calls'."
        )
    owed.discard(identity)
    text = "\n".join(part["text"] for part in _texts(entry, number) if part["type"] == "text")
    block: Block = {"type": "tool_result", "tool_use_id": _ours(identity), "content": text.removeprefix(FAILED)}
    return {**block, "is_error": True} if text.startswith(FAILED) else block


def _ours(identity: str) -> str:
    return OUR_CALL + identity.removeprefix(THEIR_CALL) if identity.startswith(THEIR_CALL) else identity


def _tools(raw: object) -> tuple[Block, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise BadRequestError("Invalid type for 'tools': expected an array of objects.")
    return tuple(_tool(tool, number) for number, tool in enumerate(raw))


def _tool(tool: object, number: int) -> Block:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequestError(f"Missing required parameter: 'tools[{number}].function'.")
    schema = function.get("parameters") or {}
    return {"name": function["name"], "description": function.get("description") or "", "input_schema": schema}


def _form(wish: object) -> Block | None:
    """The schema of a `json_schema` format; None where there is none."""
    if not isinstance(wish, dict) or wish.get("type") in (None, "text", "json_object"):
        return None
    told = wish.get("json_schema") if wish.get("type") == "json_schema" else None
    schema = told.get("schema") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(told.get("name"), str) or not isinstance(schema, dict):
        raise BadRequestError("Invalid 'response_format': a json_schema with a name and a schema is required.")
    if told.get("strict") is True:
        _check_strict(schema)
    return schema


def _check_strict(schema: object) -> None:
    """Of an object every property is required and nothing beside them allowed."""
    if not isinstance(schema, dict):
        raise BadRequestError("Invalid schema for response_format: expected an object.")
    if schema.get("type") == "object":
        properties = schema.get("properties")
        names = set(properties) if isinstance(properties, dict) else set()
        if schema.get("additionalProperties") is not False or names != set(schema.get("required") or ()):
            raise BadRequestError(
                "Invalid schema for response_format: 'additionalProperties' is required to be false and 'required' to "
                "include every key in properties."
            )
        for inner in properties.values() if isinstance(properties, dict) else ():
            _check_strict(inner)
    if schema.get("type") == "array":
        _check_strict(schema.get("items"))
