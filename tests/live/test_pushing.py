"""Pushing to a gateway: what is put where, and that a gateway which is down costs a run nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from busy_run import INFO, feed

from loadrig.live.metrics import Metrics
from loadrig.live.pushing import Pusher, gateway_of
from loadrig.words.errors import InputError


class Puts(BaseHTTPRequestHandler):
    """Remembers what was put; answers with the status it is given."""

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.puts.append((self.path, body))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()
        self.server.came.set()  # type: ignore[attr-defined]

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def gateway(status: int = 200) -> Iterator[ThreadingHTTPServer]:
    """An HTTP server on loopback that takes puts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Puts) as server:
        server.puts, server.status, server.came = [], status, threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def url_of(server: ThreadingHTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}"


def test_the_final_state_is_pushed_under_the_runs_name() -> None:
    """The first put comes at once, the last one when it is closed: it holds the three trials, and nothing in flight."""
    metrics, said = Metrics(), list[str]()
    metrics.started(INFO)
    with gateway() as server:
        with Pusher(metrics.registry, url_of(server), "r 1/x", say=said.append, every_s=60):
            assert server.came.wait(10)  # type: ignore[attr-defined]
            feed(metrics)
            metrics.finished()
        puts = server.puts  # type: ignore[attr-defined]
    assert [path for path, _ in puts] == ["/metrics/job/loadrig/run/r%201%2Fx"] * 2
    assert 'outcome="failed"' not in puts[0][1]
    assert 'outcome="failed",phase="measured",reason="timeout",stage="c2"} 1.0' in puts[1][1]
    assert "\nloadrig_trials_in_flight 0.0\n" in puts[1][1]
    assert said == []


def test_it_is_pushed_again_every_so_often() -> None:
    """Every 20 ms, so that a long run shows before its end: at least three puts before it is closed."""
    with gateway() as server, Pusher(Metrics().registry, url_of(server), "r1", say=print, every_s=0.02):
        for _ in range(3):
            assert server.came.wait(10)  # type: ignore[attr-defined]
            server.came.clear()  # type: ignore[attr-defined]


def test_a_gateway_that_refuses_is_said_once_and_at_the_end() -> None:
    """Three refused puts or more are one warning while the run lasts and one at its end; nothing is raised."""
    said = list[str]()
    with gateway(status=503) as server, Pusher(Metrics().registry, url_of(server), "r1", say=said.append, every_s=0.02):
        for _ in range(3):
            assert server.came.wait(10)  # type: ignore[attr-defined]
            server.came.clear()  # type: ignore[attr-defined]
    assert len(said) == 2
    assert said[0].startswith("metrics cannot be pushed, the run goes on without: http://127.0.0.1:")
    assert "answered 503" in said[0]
    assert said[1].startswith("the pushgateway does not have the run's final metrics: ")


def test_a_gateway_that_is_not_there_is_a_warning() -> None:
    """Nobody listens at a port that is held and not listened on: a warning, no exception."""
    said = list[str]()
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        with Pusher(Metrics().registry, gateway_of(address), "r1", say=said.append):
            pass
    assert [one.split(": no answer")[0] for one in said] == [
        "metrics cannot be pushed, the run goes on without",
        "the pushgateway does not have the run's final metrics",
    ]
    assert f"no answer from http://{address}/metrics/job/loadrig/run/r1" in said[-1]


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("localhost:9091", "http://localhost:9091"),
        ("https://push.example/path/", "https://push.example/path"),
        ("http://[::1]:9091", "http://[::1]:9091"),
    ],
)
def test_the_address_of_a_gateway(given: str, address: str) -> None:
    """A host and port is enough; a slash at the end is none of the address."""
    assert gateway_of(given) == address


@pytest.mark.parametrize("given", ["", "http://", "ftp://host", "http://host:port", "http://host?x=1", "host:0x1"])
def test_no_address_of_a_gateway(given: str) -> None:
    """What is none is refused before the run, with one that works."""
    with pytest.raises(InputError, match="such as --pushgateway"):
        gateway_of(given)


def test_a_password_is_refused_and_not_repeated() -> None:
    """The command line is on file: an address with a password in it is refused, and the refusal does not tell it."""
    with pytest.raises(InputError, match="password") as refused:
        gateway_of("http://me:s3cret@push.example")
    assert "s3cret" not in str(refused.value)
