"""The `/metrics` endpoint: a small HTTP server on the driver, in a thread of its own.

It listens on loopback unless told otherwise. Life: opened before the run starts, closed by the driver after the run
has finished and lingered, so that a scraper can read the last totals. Knows nothing of what it serves.
"""

from __future__ import annotations

from types import TracebackType

from prometheus_client import CollectorRegistry, start_http_server

from loadrig.words.errors import InputError

LOOPBACK = "127.0.0.1"


class Endpoint:
    """Serves a registry while it is open; `with` closes it. Port 0 takes any free port, None serves nothing.

    Raises `InputError` when the address cannot be had (the port is taken, or the host is not this machine's).
    """

    def __init__(self, registry: CollectorRegistry, *, host: str = LOOPBACK, port: int | None = 0) -> None:
        self.url: str | None = None
        self.port: int | None = None
        self._server = None
        if port is None:
            return
        try:
            self._server, self._thread = start_http_server(port, addr=host, registry=registry)
        except OSError as error:
            raise InputError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}",
                remedy="choose another port (0 takes a free one) or an address of this machine",
            ) from error
        self.port = self._server.server_port
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/metrics"

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops serving and frees the port, within about half a second; may be called twice."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            self._thread.join()
