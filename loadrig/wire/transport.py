"""The engine as an httpx2 transport: the SDK's client, or any other, over our connections and with our stamps.

    transport = EngineTransport(engine, dialect)
    client = anthropic.AsyncAnthropic(http_client=httpx2.AsyncClient(transport=transport, trust_env=False), ...)

Rules: a request goes out with its client's own headers but for `head.OURS`; its body is collected first. The reply's
body is handed over read by read, as it comes, and ends where HTTP says; redirects and error statuses are the client's
affair. What goes wrong is raised as httpx2's exception of that kind, so that the SDK's own classes and retries follow.
Limits are the client's: connect; write; read, for each silence while somebody waits for more. A reply that is closed,
or whose reader is cancelled, before its end closes its connection. A slow reader does not hold the server: what has
come waits in memory, which suits replies, not files. `extensions["loadrig"]` of request and response has what was
measured. The engine is not closed with the transport.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping

import httpx2

from loadrig.providers import Dialect
from loadrig.wire.engine import Engine
from loadrig.wire.exchange import Exchange, Request
from loadrig.wire.head import Head, Proxy, head_lines
from loadrig.wire.link import CLOSED
from loadrig.wire.measured import Measured, Through, is_whole
from loadrig.words.record import Failure
from loadrig.words.settings import LimitSettings

MEASURED = "loadrig"  # the extension's name
_NEVER_S = 86_400.0
_BARRED = ("transfer-encoding",)  # the body goes out whole
_PORTS = {"http": 80, "https": 443}


class EngineTransport(httpx2.AsyncBaseTransport):
    """Sends over `engine`, which must be open. `dialect` understands the events of replies that are event streams.
    `dress` has the last word on a request's head."""

    def __init__(
        self,
        engine: Engine,
        dialect: Dialect,
        *,
        proxy: Proxy | None = None,
        dress: Callable[[Head], Head] = lambda head: head,
    ) -> None:
        self._engine = engine
        self._dialect = dialect
        self._proxy = proxy
        self._dress = dress
        self._bodies: set[_Body] = set()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.scheme not in _PORTS or request.method in ("HEAD", "CONNECT"):
            raise httpx2.UnsupportedProtocol(f"{request.method} {request.url.scheme}: is not carried")
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        content = b"".join([part async for part in request.stream])
        label = request.headers.get("x-loadrig-attempt", "")
        exchange = Exchange(Request(self._head(request), label, (content,)), Through(self._dialect.reader()))
        measured = request.extensions[MEASURED] = Measured(exchange, self._dialect, self._engine.clock.label())
        body = _Body(self._engine, exchange, request.extensions.get("timeout", {}))
        self._bodies.add(body)
        body.task.add_done_callback(lambda _: self._bodies.discard(body))
        try:
            await body.begun()
        except BaseException:
            await body.aclose()
            raise
        assert exchange.status is not None
        return httpx2.Response(
            exchange.status,
            headers=exchange.headers,
            stream=body,
            extensions={"http_version": b"HTTP/1.1", MEASURED: measured},
        )

    async def aclose(self) -> None:
        """Ends what is in flight; its readers are told."""
        for body in tuple(self._bodies):
            await body.aclose()

    def _head(self, request: httpx2.Request) -> Head:
        url, kept = request.url, request.headers
        origin = url.scheme, url.host, url.port or _PORTS[url.scheme]
        raw = [(name, value) for name, value in kept.raw if name.lower().decode() not in _BARRED]
        keys = (kept.get("authorization", "").rpartition(" ")[2], kept.get("x-api-key", ""))
        secrets = tuple(key for key in keys if key)
        lines = head_lines(request.method.encode(), url.raw_path, raw)
        return self._dress(Head(origin, lines, secrets, proxy=self._proxy))


class _Body(httpx2.AsyncByteStream):
    """A reply on its way: what has come of it, and the task that carries it, owned by whoever holds the response."""

    def __init__(self, engine: Engine, exchange: Exchange, limits: Mapping[str, float | None]) -> None:
        connect_s, self._write_s, self._read_s = (limits.get(name) or _NEVER_S for name in ("connect", "write", "read"))
        self._clock = engine.clock
        self._exchange = exchange
        engines = LimitSettings(
            connect=connect_s, first_byte=_NEVER_S, first_token=_NEVER_S, gap=_NEVER_S, total=_NEVER_S
        )  # fmt: skip
        self._chunks: deque[bytes] = deque()
        self._news = asyncio.Event()
        exchange.tap = self._take
        self.task = asyncio.get_running_loop().create_task(engine.run(exchange, engines))
        self.task.add_done_callback(lambda _: self._news.set())

    async def begun(self) -> None:
        """Waits until the headers of the reply are there. Raises what kept them from coming."""
        exchange = self._exchange
        while exchange.headers_ns is None and not self.task.done():
            if exchange.sent_ns is None:  # connecting has its own limit
                left_s = _NEVER_S
            elif exchange.uploaded_ns is None:
                left_s = self._left_s(exchange.sent_ns, self._write_s, httpx2.WriteTimeout)
            else:
                left_s = self._left_s(exchange.uploaded_ns, self._read_s, httpx2.ReadTimeout)
            with contextlib.suppress(TimeoutError):  # nobody tells when it is connected and when it is sent
                await self._more(min(left_s, self._write_s, self._read_s))
        if exchange.headers_ns is None or exchange.failure is not None:
            raise error_of(exchange)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while self._chunks or not self.task.done():
                while self._chunks:
                    yield self._chunks.popleft()
                if not self.task.done():
                    try:
                        await self._more(self._read_s)
                    except TimeoutError:
                        raise self._late(httpx2.ReadTimeout, self._read_s) from None
            if self._exchange.error_body:
                yield bytes(self._exchange.error_body)
            if not is_whole(self._exchange):
                raise error_of(self._exchange)
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """May be called at any time, and again."""
        if not self.task.done():
            self._exchange.fail(Failure("cancelled", "closed before its end"), self._clock.now_ns())
            self.task.cancel()
            await asyncio.wait({self.task})
        self._exchange.tap = None

    def _take(self, data: bytes) -> None:
        """Called for each read, with what it brought of the body."""
        if data:
            self._chunks.append(data)
        self._news.set()

    async def _more(self, limit_s: float) -> None:
        self._news.clear()
        async with asyncio.timeout(limit_s):
            await self._news.wait()

    def _left_s(self, since_ns: int, limit_s: float, late: type[httpx2.TimeoutException]) -> float:
        left_s = limit_s - (self._clock.now_ns() - since_ns) / 1e9
        if left_s <= 0:
            raise self._late(late, limit_s)
        return left_s

    def _late(self, late: type[httpx2.TimeoutException], limit_s: float) -> httpx2.TimeoutException:
        phase = "first_byte" if self._exchange.first_byte_ns is None else "gap"
        told = f"nothing for {limit_s:g} s"
        self._exchange.fail(Failure("timeout", told, phase), self._clock.now_ns())
        return late(told)


def error_of(exchange: Exchange) -> httpx2.TransportError:
    """What httpx2 would have raised for an exchange that broke off."""
    failure = exchange.failure
    if failure is None:
        how = exchange.lost or CLOSED
        kind = httpx2.RemoteProtocolError if how.startswith(CLOSED) else httpx2.ReadError
        return kind(f"{how} before {'any' if exchange.headers_ns is None else 'the whole'} reply")
    detail = exchange.request.head.redacted(failure.detail)
    match failure.reason:
        case "connect" if failure.http_status is not None:
            return httpx2.ProxyError(detail)
        case "connect" | "tls":
            return httpx2.ConnectError(detail)
        case "timeout":
            return httpx2.ConnectTimeout(detail)
        case "protocol":
            return httpx2.RemoteProtocolError(detail)
        case _:
            return httpx2.CloseError(detail)
