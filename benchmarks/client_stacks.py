"""Clients for `client_cost.py`, one a way of reading a streamed reply in Python: each asks once and says when.

Rules: a client notes an instant just before it asks, at the first text it sees, and at the end; decodes the JSON of
every event (but for the floor, which only counts bytes); keeps its connections; and names its request to the target.
None of them makes a record: what they cost is less than what a tester built on them would.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

Ask = Callable[[str], Awaitable[tuple[int, int, int]]]  # attempt -> begin, first token, end
_now = time.perf_counter_ns
_BODY = {"model": "m-1", "max_tokens": 100, "messages": [{"role": "user", "content": "Well?"}], "stream": True}
_HEADERS = {"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"}
_DELTA, _TEXT = "content_block_delta", b"text_delta"


class _Floor(asyncio.Protocol):
    """Counts events and looks for the first text and the end; no HTTP, no JSON."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.done: asyncio.Future[int] | None = None

    def ask(self, request: bytes) -> asyncio.Future[int]:
        self.first = self.events = 0
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.done

    def data_received(self, data: bytes) -> None:
        if not self.first and _TEXT in data:
            self.first = _now()
        self.events += data.count(b"\ndata: ")
        if data.endswith(b"0\r\n\r\n"):
            self.done.set_result(_now())


@asynccontextmanager
async def floor(url: str) -> AsyncIterator[Ask]:
    """asyncio's Protocol on its own: what no client in Python can go below."""
    place, idle = urlsplit(url), []
    loop, body = asyncio.get_running_loop(), json.dumps(_BODY).encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in _HEADERS.items())
    head = f"POST /v1/messages HTTP/1.1\r\nhost: null\r\n{lines}content-length: {len(body)}\r\nx-loadrig-attempt: "

    async def ask(attempt: str) -> tuple[int, int, int]:
        begin = _now()
        protocol = idle.pop() if idle else (await loop.create_connection(_Floor, place.hostname, place.port))[1]
        end = await protocol.ask(f"{head}{attempt}\r\n\r\n".encode() + body)
        idle.append(protocol)
        return begin, protocol.first, end

    yield ask
    for protocol in idle:
        protocol.transport.close()


@asynccontextmanager
async def aiohttp_orjson(url: str) -> AsyncIterator[Ask]:
    """aiohttp's chunks as they come, split and decoded (orjson) here."""
    import aiohttp  # noqa: PLC0415 - each client's library is loaded for itself only
    import orjson  # noqa: PLC0415

    body = json.dumps(_BODY).encode()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(attempt: str) -> tuple[int, int, int]:
            begin, first, tail = _now(), 0, b""
            headers = {**_HEADERS, "x-loadrig-attempt": attempt}
            async with session.post(f"{url}/v1/messages", data=body, headers=headers) as response:
                async for chunk in response.content.iter_any():
                    *events, tail = (tail + chunk).split(b"\n\n")
                    for event in events:
                        value = orjson.loads(event[event.index(b"data: ") + 6 :])
                        if not first and value["type"] == _DELTA:
                            first = _now()
            return begin, first, _now()

        yield ask


@asynccontextmanager
async def httpx_lines(url: str) -> AsyncIterator[Ask]:
    """httpx, line by line, json of the standard library: what most examples do."""
    import httpx  # noqa: PLC0415

    async with httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None)) as client:

        async def ask(attempt: str) -> tuple[int, int, int]:
            begin, first = _now(), 0
            headers = {**_HEADERS, "x-loadrig-attempt": attempt}
            async with client.stream("POST", f"{url}/v1/messages", json=_BODY, headers=headers) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: "):
                        value = json.loads(line[6:])
                        if not first and value["type"] == _DELTA:
                            first = _now()
            return begin, first, _now()

        yield ask


@asynccontextmanager
async def sdk_create(url: str) -> AsyncIterator[Ask]:
    """The official SDK's `messages.create(stream=True)`: typed events."""
    import anthropic  # noqa: PLC0415

    async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:

        async def ask(attempt: str) -> tuple[int, int, int]:
            begin, first = _now(), 0
            async with await client.messages.create(**_BODY, extra_headers={"x-loadrig-attempt": attempt}) as stream:
                async for event in stream:
                    if not first and event.type == _DELTA:
                        first = _now()
            return begin, first, _now()

        yield ask


@asynccontextmanager
async def sdk_stream(url: str) -> AsyncIterator[Ask]:
    """The official SDK's `messages.stream()`: typed events and a message that grows with them."""
    import anthropic  # noqa: PLC0415

    body = {name: value for name, value in _BODY.items() if name != "stream"}
    async with anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0) as client:

        async def ask(attempt: str) -> tuple[int, int, int]:
            begin, first = _now(), 0
            async with client.messages.stream(**body, extra_headers={"x-loadrig-attempt": attempt}) as stream:
                async for event in stream:
                    if not first and event.type == _DELTA:
                        first = _now()
            return begin, first, _now()

        yield ask


STACKS = {
    "floor": floor,
    "aiohttp+orjson": aiohttp_orjson,
    "httpx lines+json": httpx_lines,
    "SDK create": sdk_create,
    "SDK stream": sdk_stream,
}
