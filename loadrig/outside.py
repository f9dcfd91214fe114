"""Every HTTP call that is not a measured turn: the one home of httpx, so that what checks the rig does not run on it.

Rules: a deadline on every call, no retries; loopback never through the environment's proxy. An address that does not
answer, or answers with an error or with something else than JSON, is an `InputError`; to an `Onlooker` it is something
that was seen. Nothing here is ever a measurement.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from loadrig.words.errors import InputError

ENVIRONMENT = "environment"
LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
SHOWN = 200
MOST_BYTES = 4_000_000
LATE, TOO_LONG = "no end within", "more than"
_CLOSED_UNUSED = "RemoteProtocolError: Server disconnected"


def get_json(url: str, params: Mapping[str, str] | None = None, *, timeout_s: float = 10.0) -> Any:
    """The decoded body of a GET. `timeout_s` bounds connecting and each silence while reading."""
    with _reaching(url), _client(ENVIRONMENT, timeout_s, None) as client:
        response = client.request("GET", url, params=params)
    return _decoded(url, response)


def post_json(
    url: str,
    body: bytes,
    headers: Iterable[tuple[str, str]] = (),
    *,
    timeout_s: float = 10.0,
    proxy: str | None = ENVIRONMENT,
    tls: ssl.SSLContext | None = None,
) -> Any:
    """The decoded answer to a POST of JSON text. `headers` may hold a key: nothing of them is in an error.

    `proxy`: the URL of the one to go through, None for none, or what the environment says. `tls`: whom it trusts and
    who we are, in the place of httpx's own."""
    with _reaching(url), _client(proxy, timeout_s, tls) as client:
        response = client.request("POST", url, content=body, headers=list(headers))
    return _decoded(url, response)


def put(url: str, body: bytes, media_type: str, *, timeout_s: float = 10.0) -> None:
    """Puts a text at an address; what is answered is not read."""
    with _reaching(url), _client(ENVIRONMENT, timeout_s, None) as client:
        response = client.put(url, content=body, headers={"content-type": media_type})
    _refuse_error(url, response)


def post_secretly(url: str, body: bytes, *, timeout_s: float = 10.0) -> str | None:
    """Posts JSON to an address that is itself a secret: it is in no log and in no error. What is answered is not read;
    returns what went wrong, None when nothing did. A server that dribbles is waited for `timeout_s` twice."""
    said: list[str | None] = []
    thread = threading.Thread(target=lambda: said.append(_posted_secretly(url, body, timeout_s)), daemon=True)
    thread.start()
    thread.join(2 * timeout_s)
    return said[0] if said else f"{LATE} {2 * timeout_s:g} s"


def _posted_secretly(url: str, body: bytes, timeout_s: float) -> str | None:
    headers = {"content-type": "application/json"}
    log = logging.getLogger("httpx")  # tells every address it calls
    was, log.disabled = log.disabled, True
    try:
        with (
            _client(ENVIRONMENT, timeout_s, None) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            status = response.status_code
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # whose words may hold the address
        return f"no answer ({type(error).__name__})"
    finally:
        log.disabled = was
    return None if 200 <= status < 300 else f"it answered {status}"


class Caller:
    """Keeps its connections open between calls: making a client costs tens of milliseconds, more than some answers. May
    be used from several threads."""

    def __init__(self, *, timeout_s: float) -> None:
        self._client = _client(ENVIRONMENT, timeout_s, None)

    def close(self) -> None:
        """Lets its connections go."""
        self._client.close()

    def post_json(self, url: str, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> Any:
        """As `post_json`."""
        with _reaching(url):
            response = self._client.request("POST", url, content=body, headers=list(headers))
        return _decoded(url, response)


@contextmanager
def _reaching(url: str) -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise InputError(
            f"no answer from {url}: {error or type(error).__name__}",
            remedy="check the address, and that the server runs and can be reached from here",
        ) from error


def _refuse_error(url: str, response: httpx.Response) -> None:
    if response.is_error:
        raise InputError(
            f"{url} answered {response.status_code}: {response.text[:SHOWN]}",
            remedy="read the answer above: the address, the question or the rights are wrong",
        )


def _decoded(url: str, response: httpx.Response) -> Any:
    _refuse_error(url, response)
    try:
        return msgspec.json.decode(response.content)
    except msgspec.DecodeError as error:
        raise InputError(
            f"{url} did not answer with JSON: {response.text[:SHOWN]}",
            remedy="check that the address is the server's API and not its page",
        ) from error


def _client(proxy: str | None, timeout_s: float, tls: ssl.SSLContext | None) -> httpx.Client:
    verify = True if tls is None else tls
    if proxy == ENVIRONMENT:
        return httpx.Client(mounts=dict.fromkeys(LOOPBACK), timeout=timeout_s, verify=verify)
    return httpx.Client(transport=httpx.HTTPTransport(proxy=proxy, verify=verify), timeout=timeout_s)


@dataclass(frozen=True, slots=True)
class Seen:
    """One exchange as it was seen from outside. Instants are nanoseconds of `time.perf_counter_ns`.

    `pieces`: what each read of the body brought, as it came over the wire, and when. `port`: ours, which tells one
    connection from another. `problem`: what kept the reply from its end; None for a whole one. `began_s`: wall time.
    """

    status: int | None
    headers: tuple[tuple[str, str], ...]
    pieces: tuple[tuple[int, bytes], ...]
    began_ns: int
    headers_ns: int | None
    end_ns: int
    began_s: float
    port: int | None
    problem: str | None

    @property
    def is_late(self) -> bool:
        """Ended by the limit, after its headers."""
        return self.status is not None and (self.problem or "").startswith(LATE)

    @property
    def body(self) -> bytes:
        return b"".join(data for _, data in self.pieces)

    def header(self, name: str) -> str | None:
        """First value of a header, by its lower-case name."""
        return next((value for key, value in self.headers if key == name), None)


class Onlooker:
    """Looks at what an endpoint does, read by read, over connections that it keeps. Nothing that happens is raised."""

    def __init__(self, *, limit_s: float, proxy: str | None, tls: ssl.SSLContext | None) -> None:
        self._limit_s = limit_s
        transport = httpx.AsyncHTTPTransport(proxy=proxy, verify=True if tls is None else tls)
        self._client = httpx.AsyncClient(transport=transport, timeout=limit_s)
        self._has_kept = False  # a connection, as far as can be known

    async def close(self) -> None:
        """Lets its connections go."""
        await self._client.aclose()

    async def look(self, method: str, url: str, body: bytes | None, headers: Iterable[tuple[str, str]]) -> Seen:
        """One exchange, within the limit from beginning to end, of `MOST_BYTES` at most. A connection that was kept and
        is closed at the very moment it is used again, says nothing of the exchange: that is made on a fresh one."""
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        seen = await self._once(method, url, body, raw)
        if self._has_kept and seen.status is None and (seen.problem or "").startswith(_CLOSED_UNUSED):
            seen = await self._once(method, url, body, raw)
        self._has_kept = seen.status is not None and seen.problem is None
        return seen

    async def _once(self, method: str, url: str, body: bytes | None, raw: Sequence[tuple[bytes, bytes]]) -> Seen:
        began_s, began_ns = time.time(), time.perf_counter_ns()
        status, port, headers_ns, problem = None, None, None, None
        fields: tuple[tuple[str, str], ...] = ()
        pieces: list[tuple[int, bytes]] = []
        size = 0
        try:
            async with (
                asyncio.timeout(self._limit_s),
                self._client.stream(method, url, content=body, headers=raw) as response,
            ):
                headers_ns = time.perf_counter_ns()
                status = response.status_code
                fields = tuple((name.lower(), value) for name, value in response.headers.multi_items())
                port = _port_of(response)
                async for data in response.aiter_raw():
                    pieces.append((time.perf_counter_ns(), data))
                    size += len(data)
                    if size > MOST_BYTES:
                        problem = f"{TOO_LONG} {MOST_BYTES:,} bytes"
                        break
        except TimeoutError:
            problem = f"{LATE} {self._limit_s:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        return Seen(status, fields, tuple(pieces), began_ns, headers_ns, time.perf_counter_ns(), began_s, port, problem)


def _port_of(response: httpx.Response) -> int | None:
    stream = response.extensions.get("network_stream")
    address = None if stream is None else stream.get_extra_info("client_addr")
    return address[1] if isinstance(address, tuple) and len(address) >= 2 else None
