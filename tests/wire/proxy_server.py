"""A small HTTP proxy in threads of its own: tunnels (CONNECT) and requests in absolute form, or whatever it is told.

`answer` is what it says to every request instead of passing it on. Knows nothing of loadrig.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@dataclass
class ProxyServer:
    """`heads` of the requests as they came. `wait_s` passes before a tunnel is granted."""

    answer: bytes | None = None
    wait_s: float = 0.0
    port: int = 0
    heads: list[bytes] = field(default_factory=list)
    _open: set[socket.socket] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(sock):
            self._open.add(sock)
            data = b""
            while b"\r\n\r\n" not in data:
                if not (more := sock.recv(65_536)):
                    return
                data += more
            head, _, rest = data.partition(b"\r\n\r\n")
            self.heads.append(head)
            if self.answer is not None:
                sock.sendall(self.answer)
                return
            method, target, _ = head.split(b" ", 2)
            if method == b"CONNECT":
                host, _, port = target.decode().rpartition(":")
                time.sleep(self.wait_s)
                with socket.create_connection((host, int(port))) as other:
                    sock.sendall(ESTABLISHED)
                    self._relay(sock, other)
                return
            parts = urlsplit(target.decode())
            with socket.create_connection((parts.hostname or "", parts.port or 80)) as other:
                lines = [line for line in head.split(b"\r\n")[1:] if not line.lower().startswith(b"proxy-")]
                first = b"%b %b HTTP/1.1" % (method, parts.path.encode())
                other.sendall(b"\r\n".join([first, *lines]) + b"\r\n\r\n" + rest)
                self._relay(sock, other)

    def _relay(self, one: socket.socket, other: socket.socket) -> None:
        """Both ways, until each side has ended."""
        self._open.add(other)
        back = threading.Thread(target=_pass_on, args=(other, one))
        back.start()
        _pass_on(one, other)
        back.join()

    def close(self) -> None:
        for sock in tuple(self._open):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def proxy_server(answer: bytes | None = None, *, wait_s: float = 0.0) -> Iterator[ProxyServer]:
    """The proxy, listening on a loopback port of its own, until the block ends."""
    proxy = ProxyServer(answer, wait_s)
    threads: list[threading.Thread] = []
    stop = threading.Event()

    def accept() -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                sock = listener.accept()[0]
                sock.settimeout(None)
                threads.append(threading.Thread(target=proxy.serve, args=(sock,)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        proxy.port = listener.getsockname()[1]
        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield proxy
        finally:
            stop.set()
            acceptor.join()
            proxy.close()
            for thread in threads:
                thread.join()
