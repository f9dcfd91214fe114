"""The simulator's second dialect: the same reader, clock, faults and truth log behind chat completions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from simulated import FAST, Reply, Running, document, running

from loadrig.simulator.cache import Charge
from loadrig.simulator.chat.request import parse_chat
from loadrig.simulator.chat.stream import events
from loadrig.simulator.draws import draw
from loadrig.simulator.faults import choose
from loadrig.simulator.reading import read
from loadrig.simulator.reply import Call, Text
from loadrig.simulator.reply import Reply as Planned
from loadrig.simulator.request import BadRequestError
from loadrig.simulator.scenario import FAULTS, Scenario
from loadrig.simulator.stream import Envelope

FEES = document("d1", "The fee for parking is 5 euros.", date="2030-01-01") + document(
    "d2", "The fee for parking was raised to 7 euros.", date="2030-02-01"
)
PATH = "/v1/chat/completions"
SEARCH = {
    "type": "function",
    "function": {
        "name": "search", "description": "Searches.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}  # fmt: skip
CALLED = {
    "role": "assistant", "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"query":"x"}'}}],
}  # fmt: skip


def asking(question: str, documents: str = "", **more: object) -> dict[str, object]:
    text = f"{documents}\n\nQuestion: {question}" if documents else f"Question: {question}"
    body = {"model": "sim-1", "max_tokens": 400, "stream": True, "messages": [{"role": "user", "content": text}]}
    return {**body, "stream_options": {"include_usage": True}, **more}


def chunks(reply: Reply) -> list[dict[str, Any]]:
    """Every event but the last, which must be `[DONE]`; comments left out."""
    blocks = [block for block in reply.body.decode().split("\n\n") if block and not block.startswith(":")]
    assert blocks[-1] == "data: [DONE]"
    return [json.loads(block.removeprefix("data: ")) for block in blocks[:-1]]


def text_of(reply: Reply) -> str:
    return "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks(reply) if c["choices"])


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(FAST, tmp_path_factory.mktemp("fast")) as simulator:
        yield simulator


def test_a_stream_has_the_chunks_of_the_api_in_order(fast: Running) -> None:
    """A role, one token a chunk, a finish reason, the usage without a choice, and `[DONE]`."""
    reply = fast.post(asking("What is the fee for parking?", FEES), path=PATH)
    first, *texts, finish, last = chunks(reply)

    assert first["choices"][0]["delta"] == {"role": "assistant", "content": "", "refusal": None}
    assert all(set(one["choices"][0]["delta"]) == {"content"} and one["usage"] is None for one in texts)
    assert (finish["choices"][0]["delta"], finish["choices"][0]["finish_reason"]) == ({}, "stop")
    assert (last["choices"], last["usage"]["completion_tokens"]) == ([], len(texts))
    assert "7 euros" in text_of(reply)


def test_usage_comes_on_request_alone(fast: Running) -> None:
    """Without the wish no chunk speaks of it."""
    told = chunks(fast.post(asking("x?", stream_options=None), path=PATH))

    assert not any("usage" in one for one in told)
    assert told[-1]["choices"][0]["finish_reason"] == "stop"


def test_without_stream_the_same_completion_comes_at_once(fast: Running) -> None:
    """Text, usage and reason of the stream of the same attempt; usage without being asked for."""
    streamed = fast.post(asking("What is the fee for parking?", FEES), attempt="t1.1.1", path=PATH)
    plain = asking("What is the fee for parking?", FEES, stream=False, stream_options=None)
    whole = fast.post(plain, attempt="t1.1.1", path=PATH).json()

    assert whole["choices"][0]["message"]["content"] == text_of(streamed)
    assert (whole["usage"], whole["object"]) == (chunks(streamed)[-1]["usage"], "chat.completion")


def test_both_dialects_say_and_count_the_same(fast: Running) -> None:
    """One prompt, one attempt: the answer, the prompt's tokens and the output's are those of the Messages API."""
    blocks = [{"type": "text", "text": FEES}, {"type": "text", "text": "Question: What is the fee for parking?"}]
    body = {"model": "sim-1", "max_tokens": 400, "stream": True, "messages": [{"role": "user", "content": blocks}]}
    chat = fast.post(asking("What is the fee for parking?", FEES), attempt="t1.1.1", path=PATH)
    messages = fast.post(body, attempt="t1.1.1")

    assert text_of(chat) == messages.text
    told, usage = chunks(chat)[-1]["usage"], messages.events[-2]["usage"]
    assert (told["prompt_tokens"], told["completion_tokens"]) == (usage["input_tokens"], usage["output_tokens"])


def test_tools_are_called_and_answered(fast: Running) -> None:
    """The first turn calls the search tool; with its result in the conversation the next one answers from it."""
    body = asking("What is the fee for parking?", tools=[SEARCH])
    made = chunks(fast.post(body, path=PATH))
    pieces = [one["choices"][0]["delta"]["tool_calls"][0] for one in made[1:-2]]
    arguments = "".join(piece["function"]["arguments"] for piece in pieces)
    call = {"id": pieces[0]["id"], "type": "function", "function": {"name": "search", "arguments": arguments}}
    again = {**body, "messages": [
        *body["messages"], {"role": "assistant", "content": None, "tool_calls": [call]},  # type: ignore[misc]
        {"role": "tool", "tool_call_id": call["id"], "content": FEES},
    ]}  # fmt: skip

    assert (pieces[0]["function"]["name"], made[-2]["choices"][0]["finish_reason"]) == ("search", "tool_calls")
    assert json.loads(arguments)["query"]
    assert pieces[0]["id"].startswith("call_")
    assert fast.post(again, path=PATH).status == 200


def test_a_form_is_met(fast: Running) -> None:
    """A json_schema format gets JSON of its shape."""
    schema = {
        "type": "object", "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
        "required": ["answer", "sure"], "additionalProperties": False,
    }  # fmt: skip
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}

    told = json.loads(text_of(fast.post(asking("What is the fee for parking?", FEES, response_format=form), path=PATH)))
    assert set(told) == {"answer", "sure"}


@pytest.mark.parametrize(("change", "words"), [
    ({"messages": []}, "Invalid 'messages'"),
    ({"model": None}, "model"),
    ({"nonsense": 1}, "Unrecognized request argument supplied: nonsense"),
    ({"max_tokens": 0}, "max_tokens"),
    ({"n": 2}, "n = 1"),
    ({"messages": [{"role": "user", "content": "x"}, CALLED, {"role": "user", "content": "y"}]}, "call_1"),
    ({"messages": [{"role": "tool", "tool_call_id": "call_9", "content": "x"}]}, "role 'tool'"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "r", "strict": True,
      "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}}}, "additionalProperties"),
])  # fmt: skip
def test_a_bad_body_is_a_400_in_the_shape_of_the_api(fast: Running, change: dict[str, object], words: str) -> None:
    """Message, type, param and code stand in `error`; the request's id in a header."""
    reply = fast.post({**asking("x?"), **change}, path=PATH)
    error = reply.json()["error"]

    assert (reply.status, error["type"], set(error)) == (
        400, "invalid_request_error", {"message", "type", "param", "code"},
    )  # fmt: skip
    assert words in error["message"]
    assert reply.headers["x-request-id"].startswith("req_")


def test_a_prompt_beyond_the_context_says_so_in_its_code(tmp_path: Path) -> None:
    """Other people's clients look at the code."""
    with running(FAST + "context_tokens = 100\n", tmp_path) as simulator:
        error = simulator.post(asking("x?", FEES * 50), path=PATH).json()["error"]

    assert error["code"] == "context_length_exceeded"


def test_models_are_listed_for_both_dialects(fast: Running) -> None:
    """One entry with the fields of each."""
    (model,) = fast.get("/v1/models").json()["data"]

    assert (model["object"], model["type"], model["id"]) == ("model", "model", "simulated")


def test_rate_limit_headers_are_there(fast: Running) -> None:
    """What is left, and a duration until it is whole again."""
    headers = fast.post(asking("x?"), path=PATH).headers

    assert int(headers["x-ratelimit-remaining-requests"]) < int(headers["x-ratelimit-limit-requests"])
    assert headers["x-ratelimit-reset-tokens"].endswith("s")


@pytest.fixture(scope="module")
def struck(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Reply, dict[str, Any]]]:
    """By fault, a reply that met it and its row in the log; which one a request meets, its name decides."""
    rates = dict.fromkeys(FAULTS, 0.14)
    dials = FAST + "".join(f"{kind} = {rate}\n" for kind, rate in rates.items())
    names = {
        fault.kind: f"t{number}.1.1"
        for number in range(200)
        if (fault := choose(Scenario(**rates), draw(0, f"t{number}.1.1", "fault"))) is not None
    }
    dials += "fixed_answer_tokens = 30\nstall_ms = 200.0\nretry_after_s = 3\n"
    with running(dials, tmp_path_factory.mktemp("struck")) as simulator:
        replies = {kind: simulator.post(asking("x?"), attempt=names[kind], path=PATH) for kind in FAULTS}
        rows = {row["fault"]: row for row in simulator.stop()}
    return {kind: (reply, rows[kind]) for kind, reply in replies.items()}


@pytest.mark.parametrize(("key", "status", "code"), [
    ("rate_429", 429, "rate_limit_exceeded"), ("rate_529", 503, None), ("rate_500", 500, None),
])  # fmt: skip
def test_a_request_turned_away_has_the_error_of_this_api(
    struck: dict[str, tuple[Reply, dict[str, Any]]], key: str, status: int, code: str | None
) -> None:
    """A 529, which this API does not know, is its 503; retry-after comes with a 429 alone; the row has the status."""
    reply, row = struck[key]

    assert (reply.status, reply.json()["error"]["code"]) == (status, code)
    assert reply.headers.get("retry-after") == ("3" if status == 429 else None)
    assert (row["status"], row["path"]) == (status, PATH)


@pytest.mark.parametrize("fault", ["rate_error_event", "rate_cut", "rate_early_end", "rate_stall"])
def test_a_stream_breaks_as_the_other_dialects_does(
    struck: dict[str, tuple[Reply, dict[str, Any]]], fault: str
) -> None:
    """An error object and no `[DONE]`; a connection cut; a polite end without a reason; a pause and then the rest."""
    reply, row = struck[fault]

    assert (b"[DONE]" in reply.body, reply.broken) == (fault == "rate_stall", fault == "rate_cut")
    assert (b'"error":' in reply.body) == (fault == "rate_error_event")
    assert row["stop_reason"] == ("stop" if fault == "rate_stall" else None)


def test_a_refusal_is_filtered_content(tmp_path: Path) -> None:
    """Status 200, no text, its own finish reason."""
    with running(FAST + "refuse_share = 1.0\n", tmp_path) as simulator:
        told = chunks(simulator.post(asking("x?"), path=PATH))

    assert [one["choices"][0]["finish_reason"] for one in told[:-1]] == [None, "content_filter"]


def test_reasoning_shows_in_the_usage_alone(tmp_path: Path) -> None:
    """Thirty tokens of it before a limit of ten: no text, length, all ten of them reasoning."""
    with running(FAST + "thinking_tokens = 30\n", tmp_path) as simulator:
        told = chunks(simulator.post(asking("x?", max_tokens=10), path=PATH))
        unlimited = chunks(simulator.post(asking("x?", max_tokens=None), path=PATH))

    assert told[-2]["choices"][0]["finish_reason"] == "length"
    assert told[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] == 10
    assert unlimited[-1]["usage"]["completion_tokens"] > 30


def test_a_prefix_that_was_seen_is_told_as_cached(tmp_path: Path) -> None:
    """With the dial on, documents asked about a second time are cached, whatever is asked; writes are not told."""
    documents = document("d1", "word " * 3000)
    with running(FAST + "caches_unasked = true\n", tmp_path) as simulator:
        used = [chunks(simulator.post(asking(q, documents), path=PATH))[-1]["usage"] for q in ("one?", "two?")]
        rows = simulator.stop()

    assert [u["prompt_tokens_details"]["cached_tokens"] > 2000 for u in used] == [False, True]
    assert used[0]["prompt_tokens"] == rows[0]["input"]
    assert used[1]["prompt_tokens"] == rows[1]["input"] + rows[1]["cache_read"]
    assert rows[0]["cache_write_5m"] == 0


def test_the_truth_log_tells_what_the_client_saw(tmp_path: Path) -> None:
    """Text digest, tokens, events and attempt of the row are those of the exchange."""
    with running(FAST, tmp_path) as simulator:
        reply = simulator.post(asking("What is the fee for parking?", FEES), attempt="trial-3.1.1", path=PATH)
        (row,) = simulator.stop()

    assert (row["attempt"], row["path"], row["stop_reason"]) == ("trial-3.1.1", PATH, "stop")
    assert row["text_sha256"] == hashlib.sha256(text_of(reply).encode()).hexdigest()
    assert (row["output"], row["events"]) == (chunks(reply)[-1]["usage"]["completion_tokens"], len(chunks(reply)) + 1)


def test_a_long_wait_is_filled_with_comments(tmp_path: Path) -> None:
    """Where the other dialect pings: no event, so no client takes it for one."""
    with running(FAST.replace("10.0", "300.0") + "ping_every_ms = 50.0\n", tmp_path) as simulator:
        reply = simulator.post(asking("x?"), path=PATH)

    assert reply.body.count(b": keep-alive\n\n") >= 2
    assert chunks(reply)[0]["choices"][0]["delta"]["role"] == "assistant"


def test_steps_sum_to_the_output_tokens() -> None:
    """Thinking, text and calls: each token has its time, though reasoning has no event of its own."""
    reply = Planned("tool_use", (Text((" a", " b")), Call("toolu_1", "find", ("{", "}"))), 7)
    made = events(Envelope("msg_1", "m", Charge(5)), reply)

    assert sum(event.steps for event in made) == reply.output_tokens == 14
    assert [event.steps for event in made] == [0, 8, 1, 3, 1, 1, 0, 0, 0]


def test_a_conversation_is_read_as_the_other_dialects() -> None:
    """Instructions apart, results and the text behind them in one message, a failed result told by its first word."""
    failed = {"role": "tool", "tool_call_id": "call_1", "content": "Error: no such document"}
    body = {
        "model": "m", "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": f"{FEES}\n\nQuestion: x?"}, CALLED, failed,
            {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
        ],
    }  # fmt: skip
    request = parse_chat(json.dumps(body).encode())

    assert request.system == ({"type": "text", "text": "s"},)
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    assert [block["text"] for block in request.messages[0].blocks] == [FEES, "Question: x?"]
    assert request.messages[1].blocks[0]["input"] == {"query": "x"}
    assert [block.get("is_error") for block in request.messages[2].blocks] == [True, None]
    assert request.messages[2].blocks[0]["content"] == "no such document"


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model":"m"}', b'{"model":"m","messages":[{"role":"x"}]}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    """In words, never with a crash."""
    with pytest.raises(BadRequestError):
        parse_chat(body)
    assert read(body, "t.1.1", Scenario(), "chat").refused
