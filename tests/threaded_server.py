"""A server in a thread of its own, for tests that hold the client's event loop while bytes arrive.

What it does with a connection is a function of the test's; TLS when it is given a context. Knows nothing of loadrig.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@contextlib.contextmanager
def threaded(play: Callable[[socket.socket], None], context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Its port. `play` is called with each connection, one after the other, until the block ends."""
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError), contextlib.closing(listener.accept()[0]) as raw:
                raw.settimeout(5)
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if context is None:
                    play(raw)
                else:
                    with context.wrap_socket(raw, server_side=True, suppress_ragged_eofs=False) as sock:
                        play(sock)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()


@contextlib.contextmanager
def handled(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a web server, in a thread of its own, whose requests `handler` answers."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}"
        finally:
            listening.shutdown()
            thread.join()


def read_request(sock: socket.socket) -> bytes:
    """One request, head and body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += sock.recv(65_536)
    return head + b"\r\n\r\n" + body


def sent(sock: socket.socket, data: bytes) -> tuple[int, int]:
    """Sends; the instants before and after: with loopback the kernel has received it between them."""
    before = time.perf_counter_ns()
    sock.sendall(data)
    return before, time.perf_counter_ns()


def reset(sock: socket.socket) -> None:
    """Closes with a reset."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)],
        check=True, capture_output=True,
    )  # fmt: skip
    return cert, key


def server_context(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*certificate)
    return context
