"""Chat completion bodies are what the official SDK would send, in fragments that are made once and shared by prefix."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.providers import load
from loadrig.words.prompt import Ask, Message, Part, Prompt, Said, SearchResult, Tool, ToolResult, ToolResults
from loadrig.words.settings import ModelSettings

MODEL = ModelSettings(id="m-1", base_url="http://127.0.0.1:9/v1", max_tokens=100)
SCHEMA = '{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}'
ODD = 'naïve \u2013 北 "q" \\ / \u2028 \x85 \x7f \x01 \b\f\n\r\t \U0001f600'
CALL = {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def fragments(
    *messages: Message, system: str = "", tools: tuple[Tool, ...] = (), form: str | None = None
) -> tuple[bytes, ...]:
    return load("openai").body(Prompt(system, messages, tools, form), MODEL)


def sdk_body(**arguments: Any) -> bytes:
    """What the SDK's client puts on the wire for `chat.completions.create(..., stream=True)`."""
    bodies: list[bytes] = []

    async def go() -> None:
        def keep(request: httpx2.Request) -> httpx2.Response:
            bodies.append(request.content)
            return httpx2.Response(200, headers={"content-type": "text/event-stream"})

        http = httpx2.AsyncClient(transport=httpx2.MockTransport(keep))
        async with openai.AsyncOpenAI(api_key="k", base_url="http://x/v1", http_client=http) as client:
            stream = await client.chat.completions.create(
                model="m-1", stream=True, stream_options={"include_usage": True}, **{"max_tokens": 100, **arguments}
            )
            await stream.close()

    asyncio.run(go())
    return bodies[0]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


FUNCTION = {"name": "find", "description": "Finds.", "parameters": json.loads(SCHEMA)}
TURNS: tuple[Message, ...] = (
    Ask((Part("Question: what?"),)),
    Said(json.dumps(SAID, separators=(",", ":")).encode()),
)
PAST = [user("Question: what?"), SAID]
RESULT = {"role": "tool", "content": ODD, "tool_call_id": "call_1"}
FOUND = SearchResult("a/b.md", 'The "best"', ("One.", "<document id='x'>"))
SHOWN = "<document id=\"a/b.md\" title='The \"best\"'>\nOne.\n\n&lt;document id='x'>\n</document>"
FORM = {"type": "json_schema", "json_schema": {"name": "reply", "schema": json.loads(SCHEMA), "strict": True}}
CASES: dict[str, tuple[tuple[bytes, ...], dict[str, Any]]] = {
    "plain": (fragments(Ask((Part(ODD),))), {"messages": [user(ODD)]}),
    "instructions": (fragments(Ask((Part("a"),)), system=ODD), {"messages": [system(ODD), user("a")]}),
    "several parts, some static": (
        fragments(Ask((Part("a"), Part(ODD, static=True), Part("b", static=True), Part("c"), Part("d")))),
        {"messages": [user(f"a\n\n{ODD}\n\nb\n\nc\n\nd")]},
    ),
    "static first and last": (
        fragments(Ask((Part("a", static=True), Part("b"), Part("c", static=True)))),
        {"messages": [user("a\n\nb\n\nc")]},
    ),
    "tools": (
        fragments(Ask((Part("a"),)), tools=(Tool("find", "Finds.", SCHEMA), Tool("find", "Finds.", f" {SCHEMA}\n"))),
        {"messages": [user("a")], "tools": [{"type": "function", "function": FUNCTION}] * 2},
    ),
    "tool results": (
        fragments(*TURNS, ToolResults((ToolResult("call_1", ODD), ToolResult("call_2", "b"))), system="s"),
        {"messages": [system("s"), *PAST, RESULT, {**RESULT, "content": "b", "tool_call_id": "call_2"}]},
    ),
    "a failed call, then text": (
        fragments(*TURNS, ToolResults((ToolResult("call_1", ODD, is_error=True),), "Go on.")),
        {"messages": [*PAST, {**RESULT, "content": f"Error: {ODD}"}, user("Go on.")]},
    ),
    "found texts": (
        fragments(Ask((FOUND, Part("Question: what?")))), {"messages": [user(f"{SHOWN}\n\nQuestion: what?")]},
    ),
    "found texts of a tool": (
        fragments(*TURNS, ToolResults((ToolResult("call_1", "not sent", shown=(FOUND, FOUND)),))),
        {"messages": [*PAST, {**RESULT, "content": f"{SHOWN}\n\n{SHOWN}"}]},
    ),
    "a form for the reply": (
        fragments(Ask((Part("a"),)), form=f"{SCHEMA} "), {"messages": [user("a")], "response_format": FORM},
    ),
    "breakpoints": (
        load("openai").body(Prompt("", (Ask((Part("a", static=True, cache="5m"), Part("b"))),), cache="1h"), MODEL),
        {"messages": [user("a\n\nb")]},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("ours", "arguments"), CASES.values(), ids=CASES)
def test_the_body_is_the_sdks_byte_for_byte(ours: tuple[bytes, ...], arguments: dict[str, Any]) -> None:
    """Field order, spacing, escapes and raw UTF-8 are those of the official client for the same arguments."""
    assert b"".join(ours) == sdk_body(**arguments)


def test_the_limit_is_called_as_the_endpoint_knows_it() -> None:
    """The maker's own endpoint by the newer name, any other by the older, unless the plan says which."""
    own = (replace(MODEL, base_url=None), replace(MODEL, base_url="https://api.openai.com/v1"))
    said = replace(MODEL, token_limit="max_completion_tokens")
    bodies = [
        json.loads(b"".join(load("openai").body(Prompt("", (Ask((Part("a"),)),)), model)))
        for model in (MODEL, *own, said, replace(own[0], token_limit="max_tokens"))
    ]

    assert [("max_tokens" in body, "max_completion_tokens" in body) for body in bodies] == [
        (True, False), (False, True), (False, True), (False, True), (True, False),
    ]  # fmt: skip
    assert b"".join(load("openai").body(Prompt("", (Ask((Part("a"),)),)), said)) == sdk_body(
        messages=[user("a")], max_tokens=openai.omit, max_completion_tokens=100
    )


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_as_the_sdk_writes_it(value: str) -> None:
    """The SDK's encoder is json with ensure_ascii off; ours gives the same bytes for every text, whole or in parts."""
    expected = json.dumps(value, ensure_ascii=False).encode()
    doubled = json.dumps(f"{value}\n\n{value}", ensure_ascii=False).encode()

    assert b'{"role":"user","content":%b}' % expected == fragments(Ask((Part(value),)))[1]
    assert doubled in b"".join(fragments(Ask((Part(value, static=True), Part(value)))))


def test_a_static_part_is_serialised_once() -> None:
    """The same text in another prompt gives the same object, not only equal bytes."""
    corpus = Part("document " * 1000, static=True)
    first, second = (fragments(Ask((corpus, Part(question)))) for question in ("one?", "two?"))

    assert first[2] is second[2]
    assert b"document" in first[2]


def test_a_longer_conversation_begins_with_the_shorter_ones_fragments() -> None:
    """Turns of an agent share every fragment but the closing, which is the same for all."""
    short = fragments(*TURNS[:1], system="s")
    long = fragments(*TURNS, ToolResults((ToolResult("call_1", "r"),)), system="s")

    assert (short[:-1], short[-1]) == (long[: len(short) - 1], long[-1])


def test_a_prompts_own_limit_takes_the_place_of_the_models() -> None:
    """A classifier's reply is short."""
    made = load("openai").body(Prompt("", (Ask((Part("a"),)),), max_tokens=7), MODEL)

    assert b'"max_tokens":7' in made[-1]


def test_no_sampling_parameter_is_sent() -> None:
    """What a model's defaults are is the endpoint's."""
    body = json.loads(b"".join(fragments(Ask((Part("a"),)))))
    assert set(body) == {"messages", "model", "max_tokens", "stream", "stream_options"}
