"""What the official Anthropic SDK does with the simulated provider: one function each, which says what was seen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import anthropic
import pydantic
from simulated_target import Simulator

Check = Callable[[Simulator], str]
MODEL = "claude-haiku-5-5"
DOCUMENTS = (
    '<document id="fees" date="2030-01-01">\nThe fee for parking is 5 euros.\n</document>\n'
    '<document id="minutes" date="2030-02-01">\nThe fee for parking was raised to 7 euros.\n</document>'
)
QUESTION = "Question: What is the fee for parking?"
TOOLS: list[Any] = [
    {"name": "search", "description": "Searches.", "input_schema": {
        "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}},
    {"name": "read", "description": "Reads a document.", "input_schema": {
        "type": "object", "properties": {"document": {"type": "string"}}, "required": ["document"]}},
]  # fmt: skip
FAST = "base_ms = 20\ndecode_ms_per_token = 1\nprefill_us_per_token = 0\njitter = 0\n"


def client(sim: Simulator, **more: Any) -> anthropic.Anthropic:
    """The SDK's client for it; no retries unless told."""
    return anthropic.Anthropic(base_url=sim.url, api_key="any", **{"max_retries": 0, **more})


def asking(question: str = QUESTION, documents: str = DOCUMENTS, **more: Any) -> dict[str, Any]:
    """What a request is made of: two documents and a question."""
    blocks = [{"type": "text", "text": documents}, {"type": "text", "text": question}]
    return {"model": MODEL, "max_tokens": 300, "messages": [{"role": "user", "content": blocks}], **more}


def streams(sim: Simulator) -> str:
    """What is streamed is the message, and its usage that of the log."""
    with client(sim).messages.stream(**asking()) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    (row,) = sim.rows()
    assert message.content[0].type == "text"
    assert text == message.content[0].text
    assert (message.usage.input_tokens, message.usage.output_tokens) == (row["input"], row["output"])
    assert "7 euros" in text
    return f"`{message.stop_reason}`, {row['output']} tokens as in the log"


def whole(sim: Simulator) -> str:
    """Without a stream the same attempt has the same content."""
    named = {"extra_headers": {"x-loadrig-attempt": "t.1.1"}}
    message = client(sim).messages.create(**asking(), **named)
    with client(sim).messages.stream(**asking(), **named) as stream:
        same = stream.get_final_message()
    assert [block.type for block in same.content] == [block.type for block in message.content] == ["text"]
    assert same.content[0].text == message.content[0].text  # type: ignore[union-attr]
    assert same.usage.output_tokens == message.usage.output_tokens
    return "the same text, the same usage"


def in_step(sim: Simulator) -> str:
    """The asynchronous client, twenty streams at once."""

    async def go() -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=sim.url, api_key="any", max_retries=0) as asynchronous:

            async def one() -> str:
                async with asynchronous.messages.stream(**asking()) as stream:
                    return (await stream.get_final_message()).stop_reason or ""

            return await asyncio.gather(*(one() for _ in range(20)))  # fmt: skip

    assert asyncio.run(go()) == ["end_turn"] * 20
    assert max(row["in_flight"] for row in sim.rows(20)) > 10
    return "20 at once"


def counts(sim: Simulator) -> str:
    """The count is what sending the same costs."""
    body = asking()
    counted = client(sim).messages.count_tokens(model=MODEL, messages=body["messages"]).input_tokens
    assert counted == client(sim).messages.create(**body).usage.input_tokens
    return "as the usage says"


def tools(sim: Simulator) -> str:
    """Calls are answered by hand until the answer comes."""
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    calls = 0
    for _ in range(8):
        reply = client(sim).messages.create(model=MODEL, max_tokens=300, tools=TOOLS, messages=messages)
        uses = [block for block in reply.content if block.type == "tool_use"]
        if not uses:
            break
        assert reply.stop_reason == "tool_use"
        calls += len(uses)
        results = [{"type": "tool_result", "tool_use_id": use.id, "content": DOCUMENTS} for use in uses]
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    assert reply.content[0].type == "text"
    assert "7 euros" in reply.content[0].text
    return f"{calls} calls, then the answer"


def tool_runner(sim: Simulator) -> str:
    """The SDK calls the function itself; conversations that the server holds are not simulated."""
    asked: list[str] = []

    @anthropic.beta_tool
    def search(query: str) -> str:
        """Searches."""
        asked.append(query)
        return DOCUMENTS

    runner = client(sim).beta.messages.tool_runner(
        model=MODEL, max_tokens=300, tools=[search], messages=[{"role": "user", "content": QUESTION}], thread=False
    )
    last = runner.until_done()
    assert asked
    assert "7 euros" in last.content[0].text  # type: ignore[union-attr]
    return f"{len(asked)} calls, then the answer"


class Answered(pydantic.BaseModel):
    """A form."""

    answer: str
    answerable: bool


def form(sim: Simulator) -> str:
    """The reply is JSON of the form asked for."""
    parsed = client(sim).messages.parse(**asking(), output_format=Answered).parsed_output
    assert parsed is not None
    assert parsed.answerable
    return "parsed into the caller's type"


def cache(sim: Simulator) -> str:
    """A prefix is written once and read then."""
    kept = {"type": "text", "text": DOCUMENTS * 40, "cache_control": {"type": "ephemeral"}}
    body = asking(messages=[{"role": "user", "content": [kept, {"type": "text", "text": QUESTION}]}])
    first, second = (client(sim).messages.create(**body).usage for _ in range(2))
    assert first.cache_creation_input_tokens
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    return f"{second.cache_read_input_tokens} tokens written, then read"


def citations(sim: Simulator) -> str:
    """Spans come with the result they are from."""
    result = {
        "type": "search_result", "source": "fees", "title": "Fees", "citations": {"enabled": True},
        "content": [{"type": "text", "text": "The fee for parking is 7 euros."}],
    }  # fmt: skip
    body = asking(messages=[{"role": "user", "content": [result, {"type": "text", "text": QUESTION}]}])
    with client(sim).messages.stream(**body) as stream:
        message = stream.get_final_message()
    cited = [one for block in message.content if block.type == "text" for one in block.citations or ()]
    assert cited
    assert cited[0].type == "search_result_location"
    return f"{len(cited)} of the right source"


def thinking(sim: Simulator) -> str:
    """Omitted thinking is a block with a signature."""
    with client(sim).messages.stream(**asking()) as stream:
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    return "a thinking block without text, signed"


def raised(call: Callable[[], object], status: int | None = None) -> str:
    """The exception's class; its status and request id stand in it."""
    try:
        call()
    except anthropic.APIError as error:
        caught: Exception = error
    except Exception as error:  # noqa: BLE001 - which one it is, is what is asked
        caught = error
    else:
        return "no exception"
    if status is not None:
        assert isinstance(caught, anthropic.APIStatusError)
        assert caught.status_code == status
        assert caught.request_id
    home = "" if isinstance(caught, anthropic.APIError) else f"{type(caught).__module__.partition('.')[0]}."
    return f"`{home}{type(caught).__name__}`"


def refused(status: int) -> Check:
    """Each request is turned away with that status."""
    return lambda sim: raised(lambda: client(sim).messages.create(**asking()), status)


def bad_request(sim: Simulator) -> str:
    """A key that the API does not know."""
    return raised(lambda: client(sim).messages.create(**asking(), extra_body={"nonsense": 1}), 400)


def no_path(sim: Simulator) -> str:
    """A path that is not simulated."""
    return raised(client(sim).beta.files.list, 404)


def streamed(sim: Simulator) -> object:
    """A stream to its end, or what it raises."""
    with client(sim, timeout=1.0).messages.stream(**asking()) as stream:
        message = stream.get_final_message()
    assert message.stop_reason is None, "a whole message"
    return message


def broken(sim: Simulator) -> str:
    """What the SDK makes of a stream that breaks."""
    told = raised(lambda: streamed(sim))
    return "no exception: a message without stop reason" if told == "no exception" else told


def retries(sim: Simulator) -> str:
    """The SDK tries again by itself, and waits as it is told."""
    began = time.monotonic()
    message = client(sim, max_retries=10).messages.create(**asking())
    rows = sim.rows(2)
    waited_s = time.monotonic() - began
    assert message.stop_reason == "end_turn"
    assert [row["status"] for row in rows[:-1]] == [429] * (len(rows) - 1)
    assert waited_s >= len(rows) - 1
    return f"{len(rows) - 1} x 429 with `retry-after: 1`, kept to; then the answer"


ROWS: tuple[tuple[str, str, Check], ...] = (  # what, scenario, check
    ("stream, text, stop reason, usage", FAST, streams),
    ("the same without stream", FAST, whole),
    ("asynchronous client", FAST, in_step),
    ("count_tokens", FAST, counts),
    ("tools, a loop by hand", FAST, tools),
    ("tools, the SDK's own runner (`thread=False`)", FAST, tool_runner),
    ("a form for the reply (`messages.parse`)", FAST, form),
    ("prompt cache", FAST, cache),
    ("search results and citations", FAST, citations),
    ("thinking", FAST + "thinking_tokens = 20\n", thinking),
    ("400", FAST, bad_request),
    ("404", FAST, no_path),
    ("429", FAST + "rate_429 = 1\n", refused(429)),
    ("500", FAST + "rate_500 = 1\n", refused(500)),
    ("529", FAST + "rate_529 = 1\n", refused(529)),
    ("error event in mid-stream", FAST + "rate_error_event = 1\n", broken),
    ("connection lost in mid-stream", FAST + "rate_cut = 1\n", broken),
    ("stream that ends too early", FAST + "rate_early_end = 1\n", broken),
    ("stream that stalls beyond the client's timeout", FAST + "rate_stall = 1\nstall_ms = 3000\n", broken),
    ("its retries", FAST + "seed = 3\nrate_429 = 0.5\nretry_after_s = 1\n", retries),
)
