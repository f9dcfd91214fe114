"""Endpoints for the doctor's tests, and what it finds at them: a proxy that buffers, a web server, odd sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Literal

from threaded_server import handled

from loadrig.cost import Prices
from loadrig.doctor.examine import examine
from loadrig.doctor.findings import Examination, Finding
from loadrig.words.settings import ModelSettings

MODEL = ModelSettings(id="claude-haiku-5-5")
Way = Literal["whole", "length", "gzip", "strip"]


def examined(base_url: str, model: ModelSettings = MODEL, *, limit_s: float = 10.0) -> Examination:
    """The whole examination of one endpoint."""
    return asyncio.run(examine(model, base_url, Prices.load(), limit_s=limit_s))


def by_check(found: Examination) -> dict[str, Finding]:
    assert len({one.check for one in found.findings}) == len(found.findings)
    return {one.check: one for one in found.findings}


@contextlib.contextmanager
def between(target: str, way: Way, *, first: bytes = b"", wait_s: float = 0.0) -> Iterator[str]:
    """A tiny proxy in front of `target`, which reads each reply whole and then sends it on in one piece: with a chunked
    body as it was (`whole`), with a length, or said to be gzip; `strip` passes it on as it comes, without Date and
    limits, and hangs up behind it. `first` is the whole reply to the first request, after `wait_s`."""
    owed = [first] if first else []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if owed:
                time.sleep(wait_s)
                self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
                self.wfile.write(owed.pop())
                self.close_connection = True
                return
            host, _, port = target.removeprefix("http://").partition(":")
            lines = [f"POST {self.path} HTTP/1.1", f"host: {host}", f"content-length: {len(body)}", "connection: close"]
            lines.append(f"content-type: {self.headers['content-type']}")
            with socket.create_connection((host, int(port))) as other:
                other.sendall("\r\n".join([*lines, "", ""]).encode() + body)
                head, rest = _until(other, b"\r\n\r\n")
                fields = [one for one in head.split(b"\r\n") if not one.lower().startswith((b"connection", b"date"))]
                if way == "strip":
                    kept = [one for one in fields if not one.lower().startswith(b"anthropic-ratelimit")]
                    self.wfile.write(b"\r\n".join([*kept, b"connection: close", b"", rest]))
                    while data := other.recv(65_536):
                        self.wfile.write(data)
                    self.close_connection = True
                    return
                while data := other.recv(65_536):
                    rest += data
            if way == "length":
                rest = _plain(rest) if b"chunked" in head.lower() else rest
                fields = [one for one in fields if not one.lower().startswith((b"transfer", b"content-length"))]
                fields.append(b"content-length: %d" % len(rest))
            if way == "gzip":
                fields.append(b"content-encoding: gzip")
            self.wfile.write(b"\r\n".join([*fields, b"", rest]))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            """Says nothing."""

    with handled(Handler) as url:
        yield url


@contextlib.contextmanager
def web_server() -> Iterator[str]:
    """One that serves a page, whatever is asked of it with GET, and knows no POST."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<h1>It works</h1>")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
            """Says nothing."""

    with handled(Handler) as url:
        yield url


@contextlib.contextmanager
def answering(data: bytes, *, hold: bool = False) -> Iterator[str]:
    """Sends the same bytes to whoever connects, and hangs up; or holds the connection open in silence behind them."""
    stop = threading.Event()

    def serve(sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock:
            sock.recv(65_536)
            sock.sendall(data)
            while hold and not stop.wait(0.02):
                pass

    def accept() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                threads.append(Thread(target=serve, args=(listener.accept()[0],)))
                threads[-1].start()

    threads: list[Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.02)
        acceptor = Thread(target=accept)
        acceptor.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            acceptor.join()
            for thread in threads:
                thread.join()


def _until(sock: socket.socket, mark: bytes) -> tuple[bytes, bytes]:
    data = b""
    while mark not in data:
        data += sock.recv(65_536)
    head, _, rest = data.partition(mark)
    return head, rest


def _plain(chunked: bytes) -> bytes:
    plain = b""
    while True:
        size, _, chunked = chunked.partition(b"\r\n")
        if not int(size, 16):
            return plain
        plain, chunked = plain + chunked[: int(size, 16)], chunked[int(size, 16) + 2 :]


@contextlib.contextmanager
def simulator(folder: Path, **dials: object) -> Iterator[str]:
    """The simulated provider, hurried, with these dials, in a process of its own."""
    scenario = folder / "scenario.toml"
    dials = {"base_ms": 40.0, "decode_ms_per_token": 4.0, "prefill_us_per_token": 0.0, **dials}
    scenario.write_text("".join(f"{key} = {value}\n" for key, value in dials.items()))
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--exit-with-parent"]
    command += ["--scenario", str(scenario)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.stdin.close()
            process.wait(10)
