"""The official SDK, whole, over our engine: it gives what it gives over its own stack, with our stamps beside."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from asking import KEY, LOOPS, head, new_engine, run, until
from proxy_server import proxy_server
from scripted_server import OK, Script, Server, serving
from simulator_process import hurried, simulator
from stamping import stamping  # noqa: F401 - a fixture that all tests use
from stream_events import blk, delta, end, error, piece, ping, reply, start, stop, think, txt
from threaded_server import self_signed, server_context

from loadrig.providers import load
from loadrig.wire.anthropic_client import anthropic_client
from loadrig.wire.engine import Engine
from loadrig.wire.proxy import proxy_of
from loadrig.wire.transport import MEASURED, EngineTransport
from loadrig.wire.turn import Target
from loadrig.words.record import Attempt, Failure
from loadrig.words.settings import ModelSettings

both_loops = pytest.mark.parametrize("loop", LOOPS)
MODEL = ModelSettings(id="m-1", max_tokens=100)
ASKED: dict[str, Any] = {
    "model": "m-1",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Question: what?"}],
}
PART = start() + blk("text") + txt("Part")
MS = 1_000_000

Use = Callable[[anthropic.AsyncAnthropic, Server, Engine], Awaitable[Any]]


def over(
    *scripts: Script,
    use: Use,
    loop: str = "asyncio",
    retries: int = 0,
    context: Any = None,
    ca_file: Path | None = None,
) -> Any:
    """What `use` makes of the SDK's client over our engine against these scripts; nothing of it may be left."""

    async def go() -> Any:
        async with serving(*scripts, context=context) as server:
            before = left()
            async with new_engine(ca_file) as engine:
                target = Target(MODEL, load("anthropic"), head(server.url))
                async with anthropic_client(engine, target, max_retries=retries) as client:
                    found = await use(client, server, engine)
            await until(lambda: left() == before)
            return found

    return run(asyncio.wait_for(go(), 10), loop)


def left() -> tuple[int, int]:
    """Open sockets of this process but for the server's own, and tasks."""
    fds = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]  # noqa: PTH208
    return sum(os.path.exists(fd) and "socket" in os.readlink(fd) for fd in fds), len(asyncio.all_tasks())  # noqa: PTH110, PTH115


def measured(response: httpx2.Response | httpx2.Request) -> Attempt:
    attempt = response.extensions[MEASURED].attempt()
    assert isinstance(attempt, Attempt)
    return attempt


def json_reply(body: bytes, *headers: bytes, status: int = 200) -> Script:
    lines = b"".join(one + b"\r\n" for one in (b"content-type: application/json", *headers))
    return Script(
        [(0, body)], head=b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n%b\r\n" % (status, len(body), lines), chunked=False
    )


TOOLS = (
    start() + blk("thinking", 0) + think("hm", 0) + end(0) + blk("text", 1) + txt("I look.", 1) + end(1)
    + blk("tool_use", 2) + piece({"type": "input_json_delta", "partial_json": '{"q":'}, 2)
    + piece({"type": "input_json_delta", "partial_json": '"x"}'}, 2) + end(2) + delta("tool_use") + stop()
)  # fmt: skip


@both_loops
def test_a_stream_with_thinking_and_tools_is_the_sdks_own_message(loop: str) -> None:
    """Blocks in order, tool input as an object, stop reason; the second one takes the first one's connection."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, engine: Engine) -> list[Any]:
        found = []
        for _ in range(2):
            async with client.messages.stream(**ASKED) as stream:
                message = await stream.get_final_message()
            found.append((message, measured(stream.response)))
        assert (len(server.peers), engine.open_connections) == (1, 1)
        return found

    (message, first), (_, second) = over(Script([(0, TOOLS)]), use=use, loop=loop)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert (message.content[2].input, message.stop_reason) == ({"q": "x"}, "tool_use")
    assert (first.reused, second.reused, first.failure, first.stamp) == (
        False, True, None, "read" if loop.endswith("read") else "kernel"
    )  # fmt: skip


@both_loops
def test_events_are_handed_over_as_they_come_and_stamped(loop: str) -> None:
    """The reader has the first text while the server still waits to send the second; stamps are those of the sends."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, _: Engine) -> tuple[list[int], Attempt, Server]:
        sent = []
        async with client.messages.stream(**ASKED) as stream:
            async for event in stream:
                if event.type == "text":
                    sent.append(sum(map(len, server.sent_ns)))
        return sent, measured(stream.response), server

    steps = [(0, start() + blk("text")), (40, txt("a")), (600, txt("b")), (620, end() + delta("end_turn") + stop())]
    sent, attempt, server = over(Script(steps), use=use, loop=loop)
    assert sent[0] == 2
    assert [server.step_of(at) for at in (attempt.first_event_ns, attempt.first_token_ns, attempt.last_token_ns)] == [
        0,
        1,
        2,
    ]
    assert (attempt.usage or None) is not None


def test_headers_are_there_before_the_body() -> None:
    """The response is with its caller while the server still waits to send its first event."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, _: Engine) -> int:
        async with client.messages.with_streaming_response.create(**ASKED, stream=True) as response:
            sent = sum(map(len, server.sent_ns))
            assert response.headers["request-id"] == "req_1"
            async for _part in response.iter_bytes():
                pass
        return sent

    assert over(Script([(0, b""), (150, reply())]), use=use) == 1


def test_what_is_sent_is_the_sdks_own_but_for_the_listed_headers() -> None:
    """The SDK on its own stack and over ours: the same request but for `accept-encoding` and the length's place."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, _: Engine) -> list[bytes]:
        async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0) as own:
            for one in (client, own):
                await one.messages.create(**ASKED)
        return server.requests

    body = b'{"id":"m","type":"message","role":"assistant","model":"m-1","content":[],"usage":{}}'
    ours, theirs = over(json_reply(body), use=use)
    (our_head, our_body), (their_head, their_body) = (one.split(b"\r\n\r\n") for one in (ours, theirs))
    assert our_body == their_body
    differing = {line.split(b":")[0].lower() for line in set(our_head.split(b"\r\n")) ^ set(their_head.split(b"\r\n"))}
    assert differing == {b"accept-encoding"}


@pytest.mark.parametrize("kind", ["create", "count"])
def test_plain_replies_are_plain(kind: str) -> None:
    """A whole message and a count of tokens: no first token, no failure, the time of the headers."""

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> tuple[Any, Attempt]:
        if kind == "create":
            raw = await client.messages.with_raw_response.create(**ASKED)
        else:
            raw = await client.messages.with_raw_response.count_tokens(model="m-1", messages=ASKED["messages"])
        return await raw.parse(), measured(raw.http_response)

    message = b'{"id":"m","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":"end_turn"}'
    found, attempt = over(json_reply(message if kind == "create" else b'{"input_tokens":7}'), use=use)
    assert (found.stop_reason if kind == "create" else found.input_tokens) == ("end_turn" if kind == "create" else 7)
    assert (attempt.failure, attempt.first_token_ns, attempt.http_status) == (None, None, 200)
    assert (attempt.headers_ns or 0) > attempt.begin_ns


STATUSES = [
    (400, anthropic.BadRequestError, "http_4xx"), (401, anthropic.AuthenticationError, "http_4xx"),
    (429, anthropic.RateLimitError, "rate_limited"), (529, anthropic.OverloadedError, "overloaded"),
    (500, anthropic.InternalServerError, "http_5xx"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "kind", "reason"), STATUSES)
def test_error_statuses_are_the_sdks_exceptions(status: int, kind: type[anthropic.APIStatusError], reason: str) -> None:
    """With the endpoint's own words, request id and headers; our record has the reason."""
    body = b'{"type":"error","error":{"type":"some_error","message":"told so"}}'

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> anthropic.APIStatusError:
        with pytest.raises(kind) as caught:
            await client.messages.create(**ASKED, stream=True)
        return caught.value

    found = over(json_reply(body, b"request-id: req_7", status=status), use=use)
    assert (type(found), found.status_code, found.request_id) == (kind, status, "req_7")
    assert measured(found.response).failure == Failure(reason, "some_error: told so", http_status=status)


def test_the_sdks_retries_keep_their_rules() -> None:
    """429 with retry-after-ms, then a good reply: two requests, the wait between them, and each measured apart."""
    busy = json_reply(b"{}", b"retry-after-ms: 60", status=429)

    async def use(client: anthropic.AsyncAnthropic, server: Server, _: Engine) -> tuple[int, Attempt]:
        async with client.messages.stream(**ASKED) as stream:
            await stream.get_final_message()
        waited_ns = server.sent_ns[1][0] - server.sent_ns[0][0]
        assert [b"retry-count: %d" % n in one.lower() for n, one in enumerate(server.requests)] == [True, True]
        return waited_ns, measured(stream.response)

    waited_ns, attempt = over(busy, Script([(0, reply())]), use=use, retries=2)
    assert waited_ns >= 60 * MS
    assert attempt.http_status == 200


def test_an_error_in_mid_stream_is_the_sdks_exception() -> None:
    """As over its own stack: status 200, the type named."""

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> anthropic.APIStatusError:
        async with client.messages.stream(**ASKED) as stream:
            with pytest.raises(anthropic.APIStatusError) as caught:
                await stream.get_final_message()
        return caught.value

    found = over(Script([(0, PART + error("overloaded_error", "busy"))]), use=use)
    assert (found.status_code, found.type) == (200, "overloaded_error")
    assert measured(found.response).failure == Failure("overloaded", "overloaded_error: busy", http_status=200)


NOISE = [(0.0, b"%x\r\n%b\r\n" % (len(PART), PART)), (5.0, b"xyz\r\nnot a chunk")]
BREAKS = [
    ("reset", Script([(0, PART)], end="reset"), httpx2.ReadError, "incomplete"),
    ("close", Script([(0, PART)], end="close"), httpx2.RemoteProtocolError, "incomplete"),
    ("stall", Script([(0, PART)], end="hold"), httpx2.ReadTimeout, "timeout"),
    ("noise", Script(NOISE, end="hold", chunked=False), httpx2.RemoteProtocolError, "protocol"),
]  # fmt: skip


@both_loops
@pytest.mark.parametrize(("script", "kind", "reason"), [one[1:] for one in BREAKS], ids=[one[0] for one in BREAKS])
def test_a_stream_that_breaks_off_raises_httpx2s_exception(
    loop: str, script: Script, kind: type[Exception], reason: str
) -> None:
    """What had come is with the reader before; reason and stamps are on record, and the connection is gone."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, engine: Engine) -> tuple[list[str], Attempt]:
        texts = []
        async with client.with_options(timeout=httpx2.Timeout(5, read=0.1)).messages.stream(**ASKED) as stream:
            with pytest.raises(kind):  # noqa: PT012 - what came before it is looked at too
                async for text in stream.text_stream:
                    texts.append(text)
        await until(lambda: engine.open_connections == 0 and server.closed == 1)
        return texts, measured(stream.response)

    texts, attempt = over(script, use=use, loop=loop)
    assert texts == ["Part"]
    assert attempt.failure is not None
    assert (attempt.failure.reason, attempt.first_token_ns is not None) == (reason, True)


def test_pings_keep_a_stream_alive() -> None:
    """The read limit is of each silence, not of the wait for content."""

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> str | None:
        async with client.with_options(timeout=httpx2.Timeout(5, read=0.15)).messages.stream(**ASKED) as stream:
            return (await stream.get_final_message()).stop_reason

    steps = [(0.0, PART), *((60.0 * n, ping()) for n in range(1, 6)), (330.0, end() + delta("end_turn") + stop())]
    assert over(Script(steps), use=use) == "end_turn"


@both_loops
def test_before_the_headers_the_sdk_speaks_of_its_connection(loop: str) -> None:
    """Silence is APITimeoutError, hanging up is APIConnectionError, as over its own stack; both are measured."""

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> list[tuple[type[Exception], type[Any], str]]:
        found = []
        for _ in range(2):
            with pytest.raises(anthropic.APIConnectionError) as caught:
                await client.with_options(timeout=httpx2.Timeout(5, read=0.1)).messages.create(**ASKED)
            failure = measured(caught.value.request).failure
            assert failure is not None
            found.append((type(caught.value), type(caught.value.__cause__), failure.reason))
        return found

    silent, closing = Script([], end="hold"), Script([], end="close")
    assert over(silent, closing, use=use, loop=loop) == [
        (anthropic.APITimeoutError, httpx2.ReadTimeout, "timeout"),
        (anthropic.APIConnectionError, httpx2.RemoteProtocolError, "incomplete"),
    ]


@both_loops
def test_cancelling_in_mid_stream_closes_the_connection(loop: str) -> None:
    """The reader's task ends as cancelled, the server sees the close, and nothing is left."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, engine: Engine) -> bool:
        async def read() -> None:
            async with client.messages.stream(**ASKED) as stream:
                await stream.get_final_message()

        task = asyncio.ensure_future(read())
        await until(lambda: sum(map(len, server.sent_ns)) == 1)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.closed == 1)
        return engine.open_connections == 0

    assert over(Script([(0, PART)], end="hold"), use=use, loop=loop)


@both_loops
@pytest.mark.parametrize("when", ["connecting", "headers"])
def test_cancelling_before_the_reply_leaves_nothing(loop: str, when: str) -> None:
    """Neither a listener that never accepts nor one that never answers holds a cancelled task."""

    async def go() -> None:
        with socket.socket() as deaf:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0 if when == "connecting" else 50)
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            before = left()
            async with new_engine() as engine:
                client, before_asking = anthropic_client(engine, Target(MODEL, load("anthropic"), head(url))), left()
                tasks = [asyncio.ensure_future(client.messages.create(**ASKED)) for _ in range(6)]
                await asyncio.sleep(0.05)
                for task in tasks:
                    task.cancel()
                found = await asyncio.gather(*tasks, return_exceptions=True)
                assert {type(one) for one in found} == {asyncio.CancelledError}
                await until(lambda: left() == before_asking)
                await client.close()
            await until(lambda: left() == before)

    run(asyncio.wait_for(go(), 5), loop)


def test_a_reply_left_unread_ends_with_the_client() -> None:
    """Somebody asked for a stream and forgot it: closing the client closes its connection and its task."""

    async def use(client: anthropic.AsyncAnthropic, server: Server, engine: Engine) -> bool:
        await client.messages.create(**ASKED, stream=True)
        await client.close()
        await until(lambda: server.closed == 1)
        return engine.open_connections == 0

    assert over(Script([(0, PART)], end="hold"), use=use)


@both_loops
def test_stopping_the_engine_ends_its_readers(loop: str) -> None:
    """A stop is heard in mid-stream as a closed connection."""

    async def use(client: anthropic.AsyncAnthropic, _: Server, engine: Engine) -> str:
        async with client.messages.stream(**ASKED) as stream:
            with pytest.raises(httpx2.CloseError, match="the run was stopped"):  # noqa: PT012
                async for _text in stream.text_stream:
                    engine.stop()
        failure = measured(stream.response).failure
        return "" if failure is None else failure.reason

    assert over(Script([(0, PART)], end="hold"), use=use, loop=loop) == "cancelled"


def raised(
    url: str, timeout: httpx2.Timeout | None = None, *, proxy: str | None = None, content: bytes = b""
) -> Exception:
    """What a plain httpx2 client gets from a request that cannot be made."""

    async def go() -> Exception:
        async with new_engine() as engine:
            way = None if proxy is None else proxy_of(proxy, "the test")
            transport = EngineTransport(engine, load("anthropic"), proxy=way)
            async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
                with pytest.raises(httpx2.TransportError) as caught:
                    await client.post(url, timeout=timeout or httpx2.Timeout(5), content=content)
                return caught.value

    return run(asyncio.wait_for(go(), 5))


def test_connections_that_do_not_come_about_are_httpx2s_exceptions() -> None:
    """Refused, not TLS, too late, refused by a proxy, and what is not carried at all: each has its class."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        refused = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        assert type(raised(refused)) is httpx2.ConnectError
        deaf.listen()
        late = raised(refused.replace("http", "https"), httpx2.Timeout(5, connect=0.1))
        assert (type(late), str(late)) == (httpx2.ConnectTimeout, "no connection within 0.1 s")
    with proxy_server(b"HTTP/1.1 407 No\r\n\r\n") as proxy:
        assert type(raised("https://api.example", proxy=proxy.url)) is httpx2.ProxyError
    assert type(raised("ws://127.0.0.1:1")) is httpx2.UnsupportedProtocol


def test_a_server_that_takes_nothing_is_a_write_timeout() -> None:
    """Accepted and never read: a body that its socket does not hold ends with the write limit, not the read limit."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        found = raised(url, httpx2.Timeout(5, write=0.1), content=b"x" * 20_000_000)
    assert type(found) is httpx2.WriteTimeout


def test_over_tls_too(tmp_path: Path) -> None:
    """The engine's own TLS, timed apart."""
    certificate = self_signed(tmp_path)

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> Attempt:
        async with client.messages.stream(**ASKED) as stream:
            await stream.get_final_message()
        return measured(stream.response)

    attempt = over(Script([(0, reply())]), use=use, context=server_context(certificate), ca_file=certificate[0])
    assert (attempt.failure, (attempt.tls_ns or 0) > 0) == (None, True)


def test_a_reply_that_ends_with_its_connection_is_whole() -> None:
    """No length, no chunks: the close is its end, and no error."""
    script = Script([(0, reply())], head=OK.replace(b"transfer-encoding: chunked\r\n", b""), end="close", chunked=False)

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> tuple[str | None, Failure | None]:
        async with client.messages.stream(**ASKED) as stream:
            message = await stream.get_final_message()
        return message.stop_reason, measured(stream.response).failure

    assert over(script, use=use) == ("end_turn", None)


def test_a_slow_reader_loses_nothing() -> None:
    """All has come long before it is read."""

    async def use(client: anthropic.AsyncAnthropic, *_: Any) -> str:
        texts = []
        async with client.messages.stream(**ASKED) as stream:
            async for text in stream.text_stream:
                texts.append(text)
                await asyncio.sleep(0.01)
        return "".join(texts)

    steps = [
        (0.0, PART),
        *((0.5 * n, txt(str(n % 10))) for n in range(1, 31)),
        (20.0, end() + delta("end_turn") + stop()),
    ]
    assert over(Script(steps), use=use) == "Part" + "1234567890" * 3


@pytest.mark.parametrize(
    "scenario", ["everything", "thinking", "cut_stream", "midstream_error", "overloaded", "rate_limited"]
)
def test_against_the_simulator_it_is_the_sdk_on_its_own_stack(scenario: str, tmp_path: Path) -> None:
    """Message by message the same content and counters, or the same exception; and it counts tokens alike."""

    async def heard(client: anthropic.AsyncAnthropic, label: str) -> Any:
        try:
            async with client.messages.stream(**ASKED, extra_headers={"x-loadrig-attempt": label}) as stream:
                message = await stream.get_final_message()
        except (anthropic.APIError, httpx2.HTTPError, AssertionError) as failed:
            return type(failed)
        return message.content, message.stop_reason, message.usage

    async def go(url: str) -> tuple[list[Any], list[Any]]:
        async with new_engine() as engine:
            ours = anthropic_client(engine, Target(MODEL, load("anthropic"), head(url)))
            async with ours, anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0) as theirs:
                found = []
                for client in (ours, theirs):
                    replies = [await heard(client, f"t{number}.1.1") for number in range(12)]
                    counted = await client.messages.count_tokens(model="m-1", messages=ASKED["messages"])
                    found.append([*replies, counted.input_tokens])
                return found[0], found[1]

    with simulator(hurried(scenario, tmp_path)) as url:
        ours, theirs = run(asyncio.wait_for(go(url), 30))
    assert ours == theirs
    assert ours[-1] > 0
