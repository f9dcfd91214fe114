"""The HTTP server: uvicorn with uvloop and httptools, stamps where they belong, and an orderly end.

Two small changes to uvicorn's protocol. Requests are stamped as the parser sees them, not when the application's
task first runs. And the transport's write buffer limit is nought, so that each write goes to the kernel at once
instead of at the end of the loop's turn: an event's stamp is then the instant it leaves.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from loadrig.simulator.app import Simulator
from loadrig.simulator.scenario import Scenario
from loadrig.simulator.truth import BodyLog, TruthLog
from loadrig.simulator.vitals import Vitals

GRACE_S = 1
KEEP_ALIVE_S = 75
BACKLOG = 4096
GC_THRESHOLDS = (2000, 10, 1_000_000)
"""The oldest generation holds the events of all streams; walking it took 30 ms. The application does so when idle."""


class Protocol(HttpToolsProtocol):
    """Uvicorn's protocol with stamps; see the module's head."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)

    def on_headers_complete(self) -> None:
        self.scope["received_ns"] = time.perf_counter_ns()  # type: ignore[typeddict-unknown-key]
        self.scope["hang_up"] = self.transport.close  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self.scope["body_complete_ns"] = time.perf_counter_ns()  # type: ignore[typeddict-unknown-key]
        super().on_message_complete()


def run(
    host: str,
    port: int,
    scenario: Scenario,
    truth_log_path: Path | None,
    *,
    body_log_path: Path | None = None,
    exit_with_parent: bool = False,
) -> None:
    """See `loadrig.simulator.serve`."""
    logs = TruthLog(truth_log_path), BodyLog(body_log_path)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(listener, scenario, logs, exit_with_parent=exit_with_parent))


async def _serve(
    listener: socket.socket, scenario: Scenario, logs: tuple[TruthLog, BodyLog], *, exit_with_parent: bool
) -> None:
    simulator = await Simulator.open(scenario, *logs)
    server = _server(simulator)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    vitals = Vitals()
    if exit_with_parent:
        loop.add_reader(sys.stdin.fileno(), _answer_or_stop, vitals, stop)
    host, port = listener.getsockname()[:2]
    await server.startup(sockets=[listener])
    gc.collect()
    gc.freeze()  # what is alive now stays: later collections need not walk it
    gc.set_threshold(*GC_THRESHOLDS)
    shown = f"[{host}]" if ":" in host else host
    sys.stdout.write(f"listening http://{shown}:{port}\n")
    sys.stdout.flush()
    sampling = loop.create_task(vitals.run())  # owned here: ended below
    await server.main_loop()
    sampling.cancel()
    for connection in list(server.server_state.connections):
        connection.transport.close()  # what still streams ends here, and its row says so
    await server.shutdown(sockets=[listener])
    await simulator.close()


def _server(simulator: Simulator) -> uvicorn.Server:
    config = uvicorn.Config(
        simulator,
        http=Protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="error",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        server_header=False,
        backlog=BACKLOG,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    return server


def _answer_or_stop(vitals: Vitals, stop: Callable[[], None]) -> None:
    """Each line on standard input asks for the vitals; its end is ours."""
    said = os.read(sys.stdin.fileno(), 65536)
    for _ in range(said.count(b"\n")):
        sys.stdout.buffer.write(vitals.line())
    sys.stdout.flush()
    if not said:
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop()
