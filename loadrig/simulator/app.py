"""The provider as an ASGI application: POST /v1/messages, .../count_tokens, POST /v1/chat/completions, GET /v1/models,
/healthz, /_sim/stats.

Any key or token is taken, none is needed. Each POST leaves one row in the truth log. Uvicorn hands over, beside the
usual scope, the instants and the means to hang up that `server.Protocol` puts there.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import itertools
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from loadrig.simulator.answering import Send, Stage
from loadrig.simulator.cache import PromptCache
from loadrig.simulator.dialects import MESSAGES, PATHS
from loadrig.simulator.exchange import Exchange, Provider, respond
from loadrig.simulator.headers import RateLimits
from loadrig.simulator.latency import MS_NS, Slots
from loadrig.simulator.metronome import Lateness, Metronome
from loadrig.simulator.reader_process import Readers
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.strangers import Seen
from loadrig.simulator.stream import error_body
from loadrig.simulator.truth import BodyLog, Row, TruthLog

Receive = Callable[[], Awaitable[Any]]
Scope = dict[str, Any]
FLUSH_EVERY_S = 0.5
COUNT_TOKENS = "/v1/messages/count_tokens"

_MODEL = {"id": "simulated", "display_name": "Simulated", "owned_by": "loadrig", "created": 1_700_000_000}
MODELS = {
    "object": "list", "has_more": False, "first_id": "simulated", "last_id": "simulated",
    "data": [{**_MODEL, "object": "model", "type": "model", "created_at": "2023-11-14T22:13:20Z"}],
}  # fmt: skip
"""Whatever model is asked for answers; this is a name to ask for, in the shape of both dialects at once."""


class Simulator:
    """The application. Made on its loop by `open`; `close` after the last request."""

    def __init__(self, provider: Provider, log: TruthLog, bodies: BodyLog) -> None:
        self._provider = provider
        self._log = log
        self._bodies = bodies
        self._numbers = itertools.count(1)
        self._seen = Seen()
        self._in_flight = self._max_in_flight = self._requests = 0
        self._flusher = asyncio.get_running_loop().create_task(self._flush())

    @classmethod
    async def open(cls, scenario: Scenario, log: TruthLog, bodies: BodyLog) -> Simulator:
        cache, slots = PromptCache(scenario.cache_minimum_tokens), Slots(scenario.slots)
        stage, readers = Stage(Metronome(), Lateness()), await Readers.start(scenario)
        return cls(Provider(scenario, cache, slots, RateLimits(), stage, readers), log, bodies)

    async def close(self) -> None:
        self._flusher.cancel()
        await self._provider.readers.close()
        self._log.close()
        self._bodies.close()

    async def _flush(self) -> None:
        """Keep the log fresh; tidy memory up while nobody is waiting."""
        tidied = 0
        while True:
            await asyncio.sleep(FLUSH_EVERY_S)
            self._log.flush()
            if not self._in_flight and self._requests != tidied:
                gc.collect()
                tidied = self._requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if method == "GET" and path == "/healthz":
            await respond(send, 200, {"status": "ok"})
        elif method == "GET" and path == "/_sim/stats":
            await respond(send, 200, self._stats())
        elif method == "GET" and path == "/v1/models":
            await respond(send, 200, MODELS)
        elif method == "POST" and (path in PATHS or path == COUNT_TOKENS):
            await self._post(scope, receive, send)
        else:
            await _body(receive)
            error = error_body("not_found_error", f"Not found: {method} {path}", "req_sim0")
            await respond(send, 404, error, [(b"request-id", b"req_sim0")])

    def _stats(self) -> dict[str, object]:
        late = self._provider.stage.lateness
        return {
            "simulated": True,
            "scenario": self._provider.scenario.name,
            "pid": os.getpid(),
            "requests": self._requests,
            "in_flight": self._in_flight,
            "max_in_flight": self._max_in_flight,
            "events": late.count,
            "lateness_p50_ms": late.quantile_ms(0.5),
            "lateness_p99_ms": late.quantile_ms(0.99),
            "lateness_max_ms": late.max_ns / MS_NS,
            "cpu_s": time.process_time(),
        }

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requests += 1
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)
        row = self._row(scope)
        try:
            body = await _body(receive)
            if body is None:
                row.disconnected = True
                return
            row.body_complete_ns = scope["body_complete_ns"]
            row.body_bytes, row.body_sha256 = len(body), hashlib.sha256(body).hexdigest()
            self._bodies.write(row, body)
            key = _header(scope, b"x-api-key") or _header(scope, b"authorization") or ""
            attempt = row.attempt if row.attempt is not None else self._seen.named(row.body_sha256)
            spoken = PATHS.get(row.path, MESSAGES)
            exchange = Exchange(self._provider, send, row, key, attempt, scope["hang_up"], spoken)
            if row.path == COUNT_TOKENS:
                await exchange.count(body)
            else:
                await _while_connected(exchange, body, receive)
        finally:
            self._in_flight -= 1
            self._log.write(row)

    def _row(self, scope: Scope) -> Row:
        host, port = scope["client"] or ("", 0)
        return Row(
            attempt=_header(scope, b"x-loadrig-attempt"),
            client_request_id=_header(scope, b"x-request-id"),
            request_id=f"req_sim{os.getpid():06x}{next(self._numbers):010x}",
            path=scope["path"],
            peer=f"{host}:{port}",
            server_pid=os.getpid(),
            in_flight=self._in_flight,
            received_ns=scope["received_ns"],
            body_complete_ns=scope["received_ns"],
        )


async def _while_connected(exchange: Exchange, body: bytes, receive: Receive) -> None:
    async def listen() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.get_running_loop().create_task(listen())
    try:
        await exchange.answer(body, gone)
    finally:
        gone.cancel()


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None when the client left before its end."""
    parts: list[bytes] = []
    while True:
        event = await receive()
        if event["type"] == "http.disconnect":
            return None
        parts.append(event["body"])
        if not event["more_body"]:
            return b"".join(parts)


def _header(scope: Scope, name: bytes) -> str | None:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None
