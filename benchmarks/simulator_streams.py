"""How late the simulator's events leave, and arrive, at N concurrent streams of 20 events a second each.

Starts the simulator (`paced`: first token at 200 ms, then one every 50 ms) on one core and, on another, this
client: raw asyncio on uvloop, which only notes when each chunk came and how many events it held. Both clocks are
CLOCK_MONOTONIC, so an arrival is set against the due time from the truth log. Starts are spread over `--ramp`
seconds; a synchronous start is `--ramp 0`. Prints one JSON line.

    python benchmarks/simulator_streams.py --streams 500 --server-core 0 --client-core 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import uvloop

FIRST_NS, STEP_NS = 200_000_000, 50_000_000
BODY = json.dumps(
    {"model": "sim", "max_tokens": 4096, "stream": True, "messages": [{"role": "user", "content": "Question: go?"}]}
).encode()


class Counter(asyncio.Protocol):
    """Sends one request, keeps (arrival, text events in the chunk) until message_stop has come."""

    def __init__(self, attempt: str, done: asyncio.Future[None]) -> None:
        self.chunks: list[tuple[int, int]] = []
        self.attempt = attempt
        self._done = done
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        head = f"POST /v1/messages HTTP/1.1\r\nhost: sim\r\nx-loadrig-attempt: {self.attempt}\r\n"
        transport.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        at_ns = time.perf_counter_ns()
        self.chunks.append((at_ns, data.count(b'"text_delta"')))
        self._tail = (self._tail + data)[-40:]
        if b"message_stop" in self._tail and not self._done.done():
            self._done.set_result(None)
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionError("closed before message_stop"))


async def load(port: int, streams: int, ramp_s: float) -> list[Counter]:
    """Open the streams, evenly spread over the ramp, and wait for all of them."""
    loop = asyncio.get_running_loop()
    counters, waits = [], []
    begin = loop.time()
    for number in range(streams):
        await asyncio.sleep(max(0.0, begin + ramp_s * number / streams - loop.time()))
        done: asyncio.Future[None] = loop.create_future()
        counter = Counter(f"s{number}.1.1", done)
        await loop.create_connection(lambda counter=counter: counter, "127.0.0.1", port)  # type: ignore[misc]
        counters.append(counter)
        waits.append(done)
    await asyncio.gather(*waits)
    return counters


def arrivals_late_ms(counters: list[Counter], log: Path) -> list[float]:
    """For each text event, arrival minus due, in milliseconds, sorted."""
    service = {row["attempt"]: row["service_ns"] for row in map(json.loads, log.read_text().splitlines())}
    late = []
    for counter in counters:
        place = 0
        for at_ns, count in counter.chunks:
            for _ in range(count):
                due_ns = service[counter.attempt] + FIRST_NS + place * STEP_NS
                late.append((at_ns - due_ns) / 1e6)
                place += 1
    return sorted(late)


def main() -> None:
    """Run once and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--ramp", type=float, default=1.0, help="seconds over which the streams start")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--client-core", type=int, default=1)
    options = parser.parse_args()
    load_before = os.getloadavg()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "truth.jsonl"
        command = ["taskset", "-c", str(options.server_core), sys.executable, "-m", "loadrig.simulator"]
        command += ["--scenario", "paced", "--truth-log", str(log), "--exit-with-parent"]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        assert server.stdin is not None
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        os.sched_setaffinity(0, {options.client_core})
        began = time.perf_counter()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            counters = runner.run(load(port, options.streams, options.ramp))
        seconds = time.perf_counter() - began
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_sim/stats") as reply:
            stats = json.load(reply)
        server.stdin.close()
        server.wait()
        late = arrivals_late_ms(counters, log)
    figures = {
        "streams": options.streams,
        "ramp_s": options.ramp,
        "seconds": round(seconds, 2),
        "text_events": len(late),
        "max_in_flight": stats["max_in_flight"],
        "server_late_ms_p50": stats["lateness_p50_ms"],
        "server_late_ms_p99": stats["lateness_p99_ms"],
        "server_late_ms_max": round(stats["lateness_max_ms"], 2),
        "arrival_late_ms_p50": round(late[len(late) // 2], 2),
        "arrival_late_ms_p99": round(late[int(len(late) * 0.99)], 2),
        "server_cpu_s": round(stats["cpu_s"], 2),
        "server_cpu_us_per_event": round(1e6 * stats["cpu_s"] / stats["events"], 1),
        "load_before": load_before,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
