"""Addresses that no server answers at as it should: closed, deaf, or speaking something else than TLS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def closed() -> Iterator[str]:
    """A loopback URL at which nobody listens; its port is held, so that no other server is given it meanwhile."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@contextmanager
def deaf() -> Iterator[str]:
    """Listens, never accepts, and has no room in its queue: a connection is never made."""
    with socket.socket() as listener, socket.socket() as filling:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        filling.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def plain_speaking() -> Iterator[str]:
    """An https URL whose server answers a handshake with plain HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # shut down
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)
