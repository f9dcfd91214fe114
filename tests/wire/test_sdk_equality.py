"""The untouched SDK on the same streams: for every scenario of the simulator it hears what we hear, or fails too.

The simulator draws wording, jitter and faults from `x-loadrig-attempt`, so the same label gives the same bytes.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from asking import KEY, new_engine, run
from simulator_process import SCENARIOS, hurried, simulator

from loadrig.wire.turn import Asked, Asker, resolve
from loadrig.words.prompt import Ask, Part, Prompt, Tool
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings

MODEL = ModelSettings(id="m-1", max_tokens=2000)
DOCUMENT = '<document id="a.md" date="2026-03-01">\nThe harbour tax of Ravenna was 12 florins in 2026.\n</document>'
QUESTION = "Question: What was the harbour tax of Ravenna in 2026?"
SEARCH = Tool("search", "Searches.", '{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}')
PLAIN = Prompt("Answer from the documents.", (Ask((Part(DOCUMENT), Part(QUESTION))),))
WITH_TOOLS = Prompt("Use the tools.", (Ask((Part(QUESTION),)),), (SEARCH,))
LABELS = [f"{kind}-{number}" for kind in ("plain", "tools") for number in range(12)]

Heard = tuple[str, list[tuple[str, str, Any]], str | None, tuple[int | None, ...]]


def prompt_of(label: str) -> Prompt:
    return PLAIN if label.startswith("plain") else WITH_TOOLS


def ours(asked: Asked) -> Heard | str:
    """Text, tool calls, stop reason and counters; or the reason it failed for."""
    turn, usage = asked.turn, asked.turn.usage
    if asked.reply is None or usage is None:
        return turn.reason or ""
    calls = [(use.id, use.name, json.loads(use.arguments)) for use in asked.reply.tool_uses]
    counts = (usage.input, usage.cache_write_5m, usage.cache_read, usage.output, usage.thinking)
    return turn.text, calls, turn.stop_reason, counts


async def theirs(client: anthropic.AsyncAnthropic, label: str) -> Heard | str:
    """The same of the SDK's final message; or the name of what it raised."""
    prompt = prompt_of(label)
    blocks = [{"type": "text", "text": part.text} for part in prompt.messages[0].parts]  # type: ignore[union-attr]
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": json.loads(tool.schema)}
        for tool in prompt.tools
    ]
    arguments: dict[str, Any] = {"tools": tools} if tools else {}
    try:
        async with client.messages.stream(
            model=MODEL.id, max_tokens=MODEL.max_tokens, system=prompt.system,
            messages=[{"role": "user", "content": blocks}],  # type: ignore[list-item]
            extra_headers={"x-loadrig-attempt": f"{label}.1.1"}, **arguments,
        ) as stream:  # fmt: skip
            message = await stream.get_final_message()
    except (anthropic.APIError, httpx2.HTTPError, AssertionError) as error:
        return type(error).__name__
    if message.stop_reason is None:  # the SDK takes a stream that just ends for a message
        return "no stop reason"
    usage = message.usage
    thinking = usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else None
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
    counts = (
        usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens,
        usage.output_tokens, thinking,
    )  # fmt: skip
    return text, calls, message.stop_reason, counts


async def both(url: str) -> list[tuple[Heard | str, Heard | str]]:
    """Us first, all labels at once, then the SDK."""
    target = await resolve(MODEL, url)
    async with new_engine() as engine:
        asker = Asker(engine, target, LimitSettings(), RetrySettings())
        asked = await asyncio.gather(*(asker.ask(prompt_of(label), trace=f"{label}.1") for label in LABELS))
    async with anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0) as client:
        messages = await asyncio.gather(*(theirs(client, label) for label in LABELS))
    return list(zip(map(ours, asked), messages, strict=True))


@pytest.mark.parametrize("scenario", sorted(path.stem for path in SCENARIOS.glob("*.toml")))
def test_we_hear_what_the_sdk_hears(scenario: str, tmp_path: Path) -> None:
    """Text, tool input, stop reason and usage are equal, request by request; where one fails, so does the other."""
    with simulator(hurried(scenario, tmp_path)) as url:
        pairs = run(both(url))

    for ours_, theirs_ in pairs:
        if isinstance(ours_, str) or isinstance(theirs_, str):
            assert isinstance(ours_, str) == isinstance(theirs_, str), (ours_, theirs_)
        else:
            assert ours_ == theirs_
    heard = [ours_ for ours_, _ in pairs if not isinstance(ours_, str)]
    assert any(text for text, *_ in heard)
