"""Every HTTP call that is not a measured turn: the one home of httpx, so that what checks the rig does not run on it.

Rules: a deadline on every call, no retries; loopback never through the environment's proxy. An address that does not
answer, or answers with an error or with something else than JSON, is an `InputError`: nothing here is ever a
measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec

from loadrig.words.errors import InputError

ENVIRONMENT = "environment"
LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
SHOWN = 200


def get_json(url: str, params: Mapping[str, str] | None = None, *, timeout_s: float = 10.0) -> Any:
    """The decoded body of a GET. `timeout_s` bounds connecting and each silence while reading."""
    return _json("GET", url, timeout_s, params=params)


def post_json(
    url: str,
    body: bytes,
    headers: Iterable[tuple[str, str]] = (),
    *,
    timeout_s: float = 10.0,
    proxy: str | None = ENVIRONMENT,
) -> Any:
    """The decoded answer to a POST of JSON text. `headers` may hold a key: nothing of them is in an error.

    `proxy`: the URL of the one to go through, None for none, or what the environment says."""
    return _json("POST", url, timeout_s, proxy=proxy, content=body, headers=list(headers))


class Caller:
    """Keeps its connections open between calls: making a client costs tens of milliseconds, more than some answers. May
    be used from several threads."""

    def __init__(self, *, timeout_s: float) -> None:
        self._client = _client(ENVIRONMENT, timeout_s)

    def close(self) -> None:
        """Lets its connections go."""
        self._client.close()

    def post_json(self, url: str, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> Any:
        """As `post_json`."""
        with _reaching(url):
            response = self._client.request("POST", url, content=body, headers=list(headers))
        return _decoded(url, response)


def _json(method: str, url: str, timeout_s: float, *, proxy: str | None = ENVIRONMENT, **sent: Any) -> Any:
    with _reaching(url), _client(proxy, timeout_s) as client:
        response = client.request(method, url, **sent)
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


def _decoded(url: str, response: httpx.Response) -> Any:
    if response.is_error:
        raise InputError(
            f"{url} answered {response.status_code}: {response.text[:SHOWN]}",
            remedy="read the answer above: the address, the question or the rights are wrong",
        )
    try:
        return msgspec.json.decode(response.content)
    except msgspec.DecodeError as error:
        raise InputError(
            f"{url} did not answer with JSON: {response.text[:SHOWN]}",
            remedy="check that the address is the server's API and not its page",
        ) from error


def _client(proxy: str | None, timeout_s: float) -> httpx.Client:
    if proxy == ENVIRONMENT:
        return httpx.Client(mounts=dict.fromkeys(LOOPBACK), timeout=timeout_s)
    return httpx.Client(transport=httpx.HTTPTransport(proxy=proxy), timeout=timeout_s)
