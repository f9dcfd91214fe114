"""Request bodies are what the official SDK would send, in fragments that are made once and shared by prefix."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadrig.providers import load
from loadrig.words.prompt import Ask, Message, Part, Prompt, Said, SearchResult, Tool, ToolResult, ToolResults
from loadrig.words.settings import ModelSettings

MODEL = ModelSettings(id="m-1", max_tokens=100)
SCHEMA = '{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}'
ODD = 'naïve \u2013 北 "q" \\ / \u2028 \x85 \x7f \x01 \b\f\n\r\t \U0001f600'
SAID = [
    {"type": "thinking", "thinking": "hm", "signature": "s=="},
    {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"q": "x"}},
]


def fragments(
    *messages: Message, system: str = "", tools: tuple[Tool, ...] = (), form: str | None = None
) -> tuple[bytes, ...]:
    return load("anthropic").body(Prompt(system, messages, tools, form), MODEL)


def sdk_body(**arguments: Any) -> bytes:
    """What the SDK's client puts on the wire for `messages.create(..., stream=True)`."""
    bodies: list[bytes] = []

    async def go() -> None:
        def keep(request: httpx2.Request) -> httpx2.Response:
            bodies.append(request.content)
            return httpx2.Response(200, headers={"content-type": "text/event-stream"})

        http = httpx2.AsyncClient(transport=httpx2.MockTransport(keep))
        async with anthropic.AsyncAnthropic(api_key="k", base_url="http://x", http_client=http) as client:
            stream = await client.messages.create(model="m-1", max_tokens=100, stream=True, **arguments)
            await stream.close()

    asyncio.run(go())
    return bodies[0]


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": ODD}
FOUND = SearchResult("a/b.md", ODD, ("One.", ODD))
SHOWN = {
    "type": "search_result", "source": "a/b.md", "title": ODD, "content": [text("One."), text(ODD)],
    "citations": {"enabled": True},
}  # fmt: skip
TOOL = {"name": "find", "description": "Finds.", "input_schema": json.loads(SCHEMA)}
TURNS: tuple[Message, ...] = (
    Ask((Part("Question: what?"),)),
    Said(json.dumps(SAID, separators=(",", ":")).encode()),
)
PAST = [user(text("Question: what?")), {"role": "assistant", "content": SAID}]
CASES: dict[str, tuple[tuple[bytes, ...], dict[str, Any]]] = {
    "plain": (fragments(Ask((Part(ODD),))), {"messages": [user(text(ODD))]}),
    "system": (fragments(Ask((Part("a"),)), system=ODD), {"messages": [user(text("a"))], "system": ODD}),
    "several blocks, some static": (
        fragments(Ask((Part("a"), Part(ODD, static=True), Part("b", static=True), Part("c"), Part("d")))),
        {"messages": [user(*map(text, ("a", ODD, "b", "c", "d")))]},
    ),
    "static first and last": (
        fragments(Ask((Part("a", static=True), Part("b"), Part("c", static=True)))),
        {"messages": [user(text("a"), text("b"), text("c"))]},
    ),
    "tools": (
        fragments(Ask((Part("a"),)), tools=(Tool("find", "Finds.", SCHEMA), Tool("find", "Finds.", f" {SCHEMA}\n"))),
        {"messages": [user(text("a"))], "tools": [TOOL, TOOL]},
    ),
    "tool results": (
        fragments(*TURNS, ToolResults((ToolResult("toolu_1", ODD),)), system="s"),
        {"messages": [*PAST, user(RESULT)], "system": "s"},
    ),
    "a failed call, then text": (
        fragments(*TURNS, ToolResults((ToolResult("toolu_1", ODD, is_error=True),), "Go on.")),
        {"messages": [*PAST, user({**RESULT, "is_error": True}, text("Go on."))]},
    ),
    "breakpoints": (
        fragments(Ask((Part("a", static=True, cache="5m"), Part("b", cache="1h"), Part("c")))),
        {
            "messages": [
                user(
                    {**text("a"), "cache_control": {"type": "ephemeral"}},
                    {**text("b"), "cache_control": {"type": "ephemeral", "ttl": "1h"}},
                    text("c"),
                )
            ]
        },
    ),
    "a conversation that is kept": (
        load("anthropic").body(Prompt("s", (Ask((Part("a"),)),), form=SCHEMA, cache="1h"), MODEL),
        {
            "messages": [user(text("a"))],
            "system": "s",
            "cache_control": {"type": "ephemeral", "ttl": "1h"},
            "output_config": {"format": {"type": "json_schema", "schema": json.loads(SCHEMA)}},
        },
    ),
    "citable results": (
        fragments(Ask((FOUND, Part("Question: what?")))),
        {"messages": [user(SHOWN, text("Question: what?"))]},
    ),
    "citable results of a tool": (
        fragments(*TURNS, ToolResults((ToolResult("toolu_1", "not sent", shown=(FOUND, FOUND)),))),
        {"messages": [*PAST, user({**RESULT, "content": [SHOWN, SHOWN]})]},
    ),
    "a form for the reply": (
        fragments(Ask((Part("a"),)), system="s", form=f"{SCHEMA} "),
        {
            "messages": [user(text("a"))],
            "system": "s",
            "output_config": {"format": {"type": "json_schema", "schema": json.loads(SCHEMA)}},
        },
    ),
}


@pytest.mark.parametrize(("ours", "arguments"), CASES.values(), ids=CASES)
def test_the_body_is_the_sdks_byte_for_byte(ours: tuple[bytes, ...], arguments: dict[str, Any]) -> None:
    """Field order, spacing, escapes and raw UTF-8 are those of the official client."""
    assert b"".join(ours) == sdk_body(**arguments)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_is_written_as_the_sdk_writes_it(value: str) -> None:
    """The SDK's encoder is json with ensure_ascii off; ours gives the same bytes for every text."""
    expected = json.dumps(value, ensure_ascii=False).encode()

    assert b'{"role":"user","content":[{"type":"text","text":%b}]}' % expected == fragments(Ask((Part(value),)))[1]


def test_a_static_part_is_serialised_once() -> None:
    """The same text in another prompt gives the same object, not only equal bytes."""
    corpus = Part("document " * 1000, static=True)
    first, second = (fragments(Ask((corpus, Part(question)))) for question in ("one?", "two?"))

    assert first[2] is second[2]
    assert b"document" in first[2]


def test_a_longer_conversation_begins_with_the_shorter_ones_fragments() -> None:
    """Turns of an agent share every fragment but the closing, which is the same for all."""
    short = fragments(*TURNS[:1], system="s")
    long = fragments(*TURNS, ToolResults((ToolResult("toolu_1", "r"),)), system="s")

    assert (short[:-1], short[-1]) == (long[: len(short) - 1], long[-1])


def test_a_prompts_own_limit_takes_the_place_of_the_models() -> None:
    """A classifier's reply is short; 0 asks for none at all."""
    made = load("anthropic").body(Prompt("", (Ask((Part("a"),)),), max_tokens=0), MODEL)

    assert made[0] == b'{"max_tokens":0,"messages":['


def test_a_breakpoint_makes_another_block_of_the_same_text() -> None:
    """What is serialised once is kept by text and breakpoint: with and without are never taken for each other."""
    bare = fragments(Ask((Part("x" * 99, static=True),)))[2]
    kept = fragments(Ask((Part("x" * 99, static=True, cache="5m"),)))[2]

    assert (b"cache_control" in bare, b"cache_control" in kept) == (False, True)


def test_no_sampling_parameter_is_sent() -> None:
    """The API rejects temperature and its kin, whatever their value."""
    assert {"max_tokens", "messages", "model", "stream"} == set(json.loads(b"".join(fragments(Ask((Part("a"),))))))
