"""What the official OpenAI SDK does with the simulated provider: one function each, which says what was seen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai
import pydantic
from anthropic_checks import DOCUMENTS, FAST, MODEL, QUESTION, Check
from simulated_target import Simulator

TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": {
        "type": "object", "properties": {key: {"type": "string"}}, "required": [key]}}}
    for name, text, key in (("search", "Searches.", "query"), ("read", "Reads a document.", "document"))
]  # fmt: skip


def client(sim: Simulator, **more: Any) -> openai.OpenAI:
    """The SDK's client for it; no retries unless told."""
    return openai.OpenAI(base_url=f"{sim.url}/v1", api_key="any", **{"max_retries": 0, **more})


def asking(**more: Any) -> dict[str, Any]:
    """What a request is made of: two documents and a question."""
    content = [{"type": "text", "text": DOCUMENTS}, {"type": "text", "text": QUESTION}]
    return {"model": MODEL, "max_completion_tokens": 300, "messages": [{"role": "user", "content": content}], **more}


def streamed(sim: Simulator, **more: Any) -> tuple[str, str | None, Any]:
    """Text, finish reason and usage of a stream."""
    text, reason, usage = "", None, None
    options = {"include_usage": True}
    for chunk in client(sim, **more).chat.completions.create(**asking(), stream=True, stream_options=options):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reason = choice.finish_reason or reason
        usage = chunk.usage or usage
    return text, reason, usage


def streams(sim: Simulator) -> str:
    """The chunks are the answer, and the usage in the last one that of the log."""
    text, reason, usage = streamed(sim)
    (row,) = sim.rows()
    assert "7 euros" in text
    assert usage is not None
    assert usage.completion_tokens == row["output"]
    assert usage.prompt_tokens == row["input"] + row["cache_read"] + row["cache_write_5m"]
    return f"`{reason}`, {row['output']} tokens as in the log"


def whole(sim: Simulator) -> str:
    """Without a stream the answer comes at once."""
    reply = client(sim).chat.completions.create(**asking())
    assert "7 euros" in (reply.choices[0].message.content or "")
    return f"`{reply.choices[0].finish_reason}`"


def tools(sim: Simulator) -> str:
    """Calls are answered by hand until the answer comes."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    calls = 0
    for _ in range(8):
        reply = client(sim).chat.completions.create(**asking(messages=messages, tools=TOOLS)).choices[0]
        if not reply.message.tool_calls:
            break
        assert reply.finish_reason == "tool_calls"
        messages.append(reply.message)
        for call in reply.message.tool_calls:
            assert isinstance(json.loads(call.function.arguments), dict)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": DOCUMENTS})
            calls += 1
    assert "7 euros" in (reply.message.content or "")
    return f"{calls} calls, then the answer"


class Answered(pydantic.BaseModel):
    """A form."""

    answer: str
    answerable: bool


def form(sim: Simulator) -> str:
    """The reply is JSON of the form asked for."""
    parsed = client(sim).chat.completions.parse(**asking(), response_format=Answered).choices[0].message.parsed
    assert parsed is not None
    assert parsed.answerable
    return "parsed into the caller's type"


def raised(call: Callable[[], object], status: int | None = None) -> str:
    """The exception's class; its status stands in it."""
    try:
        call()
    except openai.OpenAIError as error:
        caught: Exception = error
    except Exception as error:  # noqa: BLE001 - which one it is, is what is asked
        caught = error
    else:
        return "no exception"
    if status is not None:
        assert isinstance(caught, openai.APIStatusError)
        assert caught.status_code == status
    home = "" if isinstance(caught, openai.OpenAIError) else f"{type(caught).__module__.partition('.')[0]}."
    return f"`{home}{type(caught).__name__}`"


def refused(status: int) -> Check:
    """Each request is turned away with that status."""
    return lambda sim: raised(lambda: client(sim).chat.completions.create(**asking()), status)


def broken(sim: Simulator) -> str:
    """What the SDK makes of a stream that breaks."""
    reasons: list[str | None] = []
    told = raised(lambda: reasons.append(streamed(sim, timeout=1.0)[1]))
    return "no exception: no finish reason" if told == "no exception" and reasons == [None] else told


def retries(sim: Simulator) -> str:
    """The SDK tries again by itself."""
    reply = client(sim, max_retries=10).chat.completions.create(**asking())
    rows = sim.rows(2)
    assert reply.choices[0].finish_reason == "stop"
    assert len(rows) > 1
    assert [row["status"] for row in rows[:-1]] == [429] * (len(rows) - 1)
    return f"{len(rows) - 1} x 429, then the answer"


def models(sim: Simulator) -> str:
    """A list to choose from."""
    return ", ".join(f"`{model.id}`" for model in client(sim).models.list())


ROWS: tuple[tuple[str, str, Check], ...] = (  # what, scenario, check
    ("stream, text, finish reason, usage", FAST, streams),
    ("the same without stream", FAST, whole),
    ("tools, a loop by hand", FAST, tools),
    ("a form for the reply (`completions.parse`)", FAST, form),
    ("models", FAST, models),
    ("429", FAST + "rate_429 = 1\n", refused(429)),
    ("500", FAST + "rate_500 = 1\n", refused(500)),
    ("error event in mid-stream", FAST + "rate_error_event = 1\n", broken),
    ("connection lost in mid-stream", FAST + "rate_cut = 1\n", broken),
    ("stream that ends too early", FAST + "rate_early_end = 1\n", broken),
    ("stream that stalls beyond the client's timeout", FAST + "rate_stall = 1\nstall_ms = 3000\n", broken),
    ("its retries", FAST + "seed = 2\nrate_429 = 0.5\nretry_after_s = 1\n", retries),
)
