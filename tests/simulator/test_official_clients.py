"""Both makers' official clients against the simulator: what they read, raise and wait for is what it says it did."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from simulated import FAST, Running, document, running

from loadrig.simulator.draws import draw
from loadrig.simulator.faults import choose
from loadrig.simulator.scenario import FAULTS, Scenario

QUESTION = document("d1", "The fee for parking is 7 euros.") + "\n\nQuestion: What is the fee for parking?"
ASKED: list[Any] = [{"role": "user", "content": QUESTION}]
SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
STRUCK = [kind for kind in FAULTS if kind != "rate_stall"]
RATES = dict.fromkeys(STRUCK, 0.16)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(FAST, tmp_path_factory.mktemp("fast")) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def struck(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Nearly every request meets a fault, which one its name decides."""
    rates = "".join(f"{kind} = {rate}\n" for kind, rate in RATES.items())
    with running(FAST + rates + "fixed_answer_tokens = 20\n", tmp_path_factory.mktemp("struck")) as simulator:
        yield simulator


def named(kind: str) -> dict[str, str]:
    """The header of a request that meets this fault."""
    for number in itertools.count():
        fault = choose(Scenario(**RATES), draw(0, f"t{number}.1.1", "fault"))
        if fault is not None and fault.kind == kind:
            return {"x-loadrig-attempt": f"t{number}.1.1"}
    raise AssertionError


def of_openai(simulator: Running, retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url=f"http://127.0.0.1:{simulator.port}/v1", max_retries=retries)


def of_anthropic(simulator: Running, retries: int = 0) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="k", base_url=f"http://127.0.0.1:{simulator.port}", max_retries=retries)


def test_openai_streams_a_completion_with_its_usage(fast: Running) -> None:
    """The client's own helper puts the chunks together: text, finish reason, counters that add up."""
    with (
        of_openai(fast) as client,
        client.chat.completions.stream(model="sim-1", messages=ASKED, stream_options={"include_usage": True}) as stream,
    ):
        found = stream.get_final_completion()

    assert found.usage is not None
    assert "7 euros" in (found.choices[0].message.content or "")
    assert found.choices[0].finish_reason == "stop"
    assert found.usage.total_tokens == found.usage.prompt_tokens + found.usage.completion_tokens


def test_openai_gets_tool_calls(fast: Running) -> None:
    """Streamed or whole, the same call with arguments that are JSON."""
    tools: Any = [{"type": "function", "function": {"name": "search", "description": "s", "parameters": SEARCH}}]
    header = {"x-loadrig-attempt": "tools.1.1"}
    asked: Any = [{"role": "user", "content": "Question: What is the fee for parking?"}]
    with of_openai(fast) as client:
        with client.chat.completions.stream(model="sim-1", messages=asked, tools=tools, extra_headers=header) as stream:
            streamed = stream.get_final_completion().choices[0].message.tool_calls or []
        whole = client.chat.completions.create(model="sim-1", messages=asked, tools=tools, extra_headers=header)

    assert whole.choices[0].finish_reason == "tool_calls"
    calls: Any = whole.choices[0].message.tool_calls
    assert [(c.id, c.function.name, c.function.arguments) for c in streamed] == [
        (c.id, c.function.name, c.function.arguments) for c in calls
    ]
    assert json.loads(calls[0].function.arguments)["query"]


def test_openai_lists_models(fast: Running) -> None:
    """So that a client which picks one finds one."""
    with of_openai(fast) as client:
        assert [model.id for model in client.models.list()] == ["simulated"]


def test_anthropic_streams_counts_and_calls_tools(fast: Running) -> None:
    """Text, stop reason and usage; count_tokens says beforehand what the prompt costs; a call's input is parsed."""
    tools: Any = [{"name": "search", "description": "s", "input_schema": SEARCH}]
    with of_anthropic(fast) as client:
        counted = client.messages.count_tokens(model="sim-1", messages=ASKED)
        with client.messages.stream(model="sim-1", max_tokens=400, messages=ASKED) as stream:
            found = stream.get_final_message()
        called = client.messages.create(
            model="sim-1",
            max_tokens=400,
            tools=tools,
            messages=[{"role": "user", "content": "Question: What is a fee?"}],
        )
        listed = [model.id for model in client.models.list()]

    assert "7 euros" in "".join(block.text for block in found.content if block.type == "text")
    assert (found.stop_reason, found.usage.input_tokens) == ("end_turn", counted.input_tokens)
    assert called.stop_reason == "tool_use"
    assert next(block.input for block in called.content if block.type == "tool_use")["query"]
    assert listed == ["simulated"]


REFUSALS: dict[str, tuple[type[Exception], type[Exception], tuple[int, int]]] = {
    "rate_429": (openai.RateLimitError, anthropic.RateLimitError, (429, 429)),
    "rate_529": (openai.InternalServerError, anthropic.OverloadedError, (503, 529)),
    "rate_500": (openai.InternalServerError, anthropic.InternalServerError, (500, 500)),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_request_turned_away_raises_the_exception_of_its_status(struck: Running, kind: str) -> None:
    """With the id of the request, and the wait that a 429 asks for, where each client looks for them."""
    ours, theirs, statuses = REFUSALS[kind]
    header = named(kind)
    with of_openai(struck) as one, pytest.raises(ours) as caught:
        one.chat.completions.create(model="m", messages=ASKED, extra_headers=header)
    with of_anthropic(struck) as other, pytest.raises(theirs) as met:
        other.messages.create(model="m", max_tokens=9, messages=ASKED, extra_headers=header)

    errors: list[Any] = [caught.value, met.value]
    assert tuple(error.status_code for error in errors) == statuses
    assert all(error.request_id.startswith("req_sim") for error in errors)
    assert [error.response.headers.get("retry-after") for error in errors] == ["1" if kind == "rate_429" else None] * 2


def test_a_bad_request_raises_its_exception(fast: Running) -> None:
    """400 with the reason in words, in both."""
    with of_openai(fast) as one, pytest.raises(openai.BadRequestError, match="nonsense"):
        one.chat.completions.create(model="m", messages=ASKED, extra_body={"nonsense": 1})
    with of_anthropic(fast) as other, pytest.raises(anthropic.BadRequestError, match="nonsense"):
        other.messages.create(model="m", max_tokens=9, messages=ASKED, extra_body={"nonsense": 1})


def ask_openai(simulator: Running, kind: str) -> list[str | None]:
    """The pieces of a stream that meets this fault."""
    with of_openai(simulator) as client:
        stream = client.chat.completions.create(model="m", messages=ASKED, stream=True, extra_headers=named(kind))
        return [chunk.choices[0].delta.content for chunk in stream]


def ask_anthropic(simulator: Running, kind: str) -> None:
    with (
        of_anthropic(simulator) as client,
        client.messages.stream(model="m", max_tokens=99, messages=ASKED, extra_headers=named(kind)) as stream,
    ):
        stream.until_done()


def test_an_error_in_the_stream_is_raised_by_both(struck: Running) -> None:
    """After some text, as the endpoint words it."""
    with pytest.raises(openai.APIError, match="overloaded"):
        ask_openai(struck, "rate_error_event")
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        ask_anthropic(struck, "rate_error_event")


def test_a_cut_stream_is_a_lost_connection_to_both(struck: Running) -> None:
    """Neither takes half of a reply for a whole one."""
    with pytest.raises(openai.APIConnectionError):
        ask_openai(struck, "rate_cut")
    with pytest.raises((anthropic.APIConnectionError, httpx2.HTTPError)):
        ask_anthropic(struck, "rate_cut")


def test_an_early_end_is_for_the_client_to_see(struck: Running) -> None:
    """In good order and without a finish reason: no exception, which is why an outcome must not rest on one."""
    assert any(ask_openai(struck, "rate_early_end"))


def test_both_wait_as_a_429_asks_before_they_try_again(tmp_path: Path) -> None:
    """One retry each: two requests a client, the second at least the second of retry-after behind the first."""
    with running(FAST + "rate_429 = 1.0\nretry_after_s = 1\n", tmp_path) as simulator:
        with of_openai(simulator, retries=1) as one, pytest.raises(openai.RateLimitError):
            one.chat.completions.create(model="m", messages=ASKED)
        with of_anthropic(simulator, retries=1) as other, pytest.raises(anthropic.RateLimitError):
            other.messages.create(model="m", max_tokens=9, messages=ASKED)
        rows = simulator.stop()

    assert [row["path"] for row in rows] == ["/v1/chat/completions"] * 2 + ["/v1/messages"] * 2
    assert all(rows[n + 1]["received_ns"] - rows[n]["end_ns"] >= 1_000_000_000 for n in (0, 2))
