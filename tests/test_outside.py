"""Calls to the outside: JSON in, clear errors out, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from scripted_server import OK, Script, serving
from threaded_server import handled

from loadrig.outside import Onlooker, get_json, post_json
from loadrig.words.errors import InputError


class Answers(BaseHTTPRequestHandler):
    """Answers by path: its own query string as JSON, an error, or a page."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        status, body = {"/echo": (200, f'{{"query": "{query}"}}'), "/page": (200, "<html>")}.get(path, (503, "no room"))
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self) -> None:
        """Gives back what it got."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Says nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    with handled(Answers) as url:
        yield url


def test_parameters_go_out_and_json_comes_back(server: str) -> None:
    """Parameters are encoded into the address; the body is decoded."""
    assert get_json(f"{server}/echo", {"query": "a b"}) == {"query": "query=a+b"}


def test_loopback_never_goes_through_a_proxy(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy in the environment, here one that does not exist, is not asked for this machine's own servers."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert get_json(f"{server}/echo") == {"query": ""}


def test_a_post_goes_the_way_it_is_told(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a proxy that is named, this machine's own servers too; directly when told so, whatever is set."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert post_json(f"{server}/post", b"[1]", proxy=None) == [1]
    assert post_json("http://host.invalid/post", b"[2]", proxy=server) == [2]


@pytest.mark.parametrize(
    ("path", "problem"), [("/full", r"answered 503: no room"), ("/page", "did not answer with JSON: <html>")]
)
def test_a_wrong_answer_is_an_input_error(server: str, path: str, problem: str) -> None:
    """An error status and a body that is not JSON are told with the beginning of the answer."""
    with pytest.raises(InputError, match=problem):
        get_json(f"{server}{path}")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "nonsense", "http://[bad/"])
def test_no_answer_is_an_input_error(url: str) -> None:
    """A server that is not there, and an address that is none, are told with a remedy."""
    with pytest.raises(InputError, match="check the address"):
        get_json(url)


WHOLE = Script([(0, b"data: x\n\n")], head=OK)
GONE = Script([], end="close")


def test_a_kept_connection_that_is_closed_when_used_is_replaced_once() -> None:
    """A server takes the second request on the kept connection and closes: it is made again on a fresh one. One that
    closes a fresh connection, or does so again, is seen as that."""

    async def looked(*scripts: Script) -> tuple[list[int | None], int]:
        async with serving(*scripts) as server:
            onlooker = Onlooker(limit_s=5, proxy=None, tls=None)
            seen = [await onlooker.look("POST", server.url, b"{}", ()) for _ in range(2)]
            await onlooker.close()
            return [one.status for one in seen], len(server.requests)

    assert asyncio.run(looked(WHOLE, GONE, WHOLE)) == ([200, 200], 3)
    assert asyncio.run(looked(WHOLE, GONE, GONE)) == ([200, None], 3)
    assert asyncio.run(looked(GONE, GONE)) == ([None, None], 2)
