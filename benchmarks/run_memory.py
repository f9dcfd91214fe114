"""Memory as a whole run goes on, and what the driver pays for a record: CPU, bytes over the socket, bytes on file.

    python benchmarks/run_memory.py [--trials 20000] [--answer-bytes 10000] [--fleet process|inline] [--in-flight 32]

Two workers (inline: one) ask a target in a process of its own that answers at once with so many bytes. Peak resident
memory and CPU time are the kernel's, of the driver and of each worker (without its search process, which idles), read
when a tenth of the trials was given out, half, and nearly all. Then the run is reported on, as `read_memory.py` does.
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
from pathlib import Path

from chaos_driver import DONE
from chaos_faults import is_running

from loadrig.fleet.frames import Answer, frame
from loadrig.log import read_run
from loadrig.stored import whole
from loadrig.worker.messages import Batch

HERE = Path(__file__).resolve().parent
HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n"
PLAN = """\
name = "memory"
repetitions = {repetitions}
[corpus]
path = "{root}/corpora/tiny"
[questions]
path = "{root}/questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "{url}"
[[arm]]
kind = "control"
[load]
concurrency = [{in_flight}]
warmup = 0
workers = {workers}
cpus_per_worker = 0.5
fleet = "{fleet}"
cycle = false
"""


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20_000)
    parser.add_argument("--answer-bytes", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--fleet", choices=("process", "inline"), default="process")
    parser.add_argument("--serve", action="store_true", help="be the target")
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(answer(options.answer_bytes)))
        return 0
    command = [sys.executable, __file__, "--serve", "--answer-bytes", str(options.answer_bytes)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as target, tempfile.TemporaryDirectory() as name:
        assert target.stdout is not None
        try:
            measured(target.stdout.readline().strip(), Path(name), options)
        finally:
            target.kill()
    return 0


def measured(url: str, folder: Path, options: argparse.Namespace) -> None:
    """One run, read at three instants."""
    workers = 1 if options.fleet == "inline" else 2
    names = {"repetitions": options.trials // 4, "root": HERE.parent, "url": url, "in_flight": options.in_flight}
    (folder / "plan.toml").write_text(PLAN.format(**names, workers=workers, fleet=options.fleet))
    of = f"answers of {options.answer_bytes} bytes, {options.in_flight} in flight"
    print(f"{options.trials} trials, {of}, {workers} workers, {options.fleet}; load average {os.getloadavg()[0]:.1f}")
    command = [HERE / "chaos_driver.py", folder / "plan.toml", folder / "results", folder / "witness", "10"]
    environment = {**os.environ, "ANTHROPIC_API_KEY": "none"}
    with subprocess.Popen([sys.executable, *map(str, command)], stderr=subprocess.DEVNULL, env=environment) as driver:
        readings = watched(driver.pid, folder, options)
        assert driver.wait() == DONE
    (cpu_s, given), (cpu_end_s, given_end) = readings[0], readings[-1]
    print(f"driver CPU: {1e3 * (cpu_end_s - cpu_s) / (given_end - given):.3f} s per 1,000 records")
    run = next((folder / "results").iterdir())
    records = read_run(run).records
    some = tuple(map(whole, records[:1024]))
    sent = sum(len(frame(Answer(n, Batch(n, some[n : n + 32])))) for n in range(0, 1024, 32))
    sizes = {name: (run / f"{name}.jsonl").stat().st_size for name in ("records", "leases", "prompts")}
    on_file = ", ".join(f"{name} {size / len(records) / 1e3:.3f} kB" for name, size in sizes.items())
    print(f"a record: {sent / 1024 / 1e3:.2f} kB from worker to driver; on file: {on_file}", flush=True)
    del records, some
    subprocess.run([sys.executable, HERE / "read_memory.py", "--of", run], check=True)


def watched(driver: int, folder: Path, options: argparse.Namespace) -> list[tuple[float, int]]:
    """Prints memory at each instant; returns the driver's CPU seconds and the trials given out then."""
    marks, readings = [0.1, 0.5, 0.98], []
    while marks and is_running(driver):
        time.sleep(0.05)
        run = next((path.parent for path in folder.glob("results/*/manifest.json")), None)
        given = 0 if run is None else (run / "leases.jsonl").read_bytes().count(b'",1]')
        if run is None or given < marks[0] * options.trials:
            continue
        pids = {one["name"]: one["pid"] for one in json.loads((run / "manifest.json").read_text())["workers"]}
        seen = {"driver": driver, **({} if options.fleet == "inline" else pids)}
        peaks = "  ".join(f"{name} {peak_bytes(pid) / 1e6:.1f} MB" for name, pid in seen.items())
        readings.append((cpu_seconds(driver), given))
        print(f"{marks.pop(0):5.0%}  {given:7} given out  peak resident: {peaks}", flush=True)
    return readings


def answer(size: int) -> bytes:
    """A reply with so many bytes of text in ten events."""
    usage = '"input_tokens":25,"output_tokens":'
    message = (
        f'"id":"m","type":"message","role":"assistant","model":"claude-haiku-5-5","content":[],"usage":{{{usage}1}}'
    )
    part = json.dumps("word " * (size // 50))
    events = [
        ("message_start", f'"message":{{{message}}}'),
        ("content_block_start", '"index":0,"content_block":{"type":"text","text":""}'),
        *[("content_block_delta", f'"index":0,"delta":{{"type":"text_delta","text":{part}}}')] * 10,
        ("content_block_stop", '"index":0'),
        ("message_delta", f'"delta":{{"stop_reason":"end_turn"}},"usage":{{{usage}10}}'),
        ("message_stop", '"x":0'),
    ]
    body = "".join(f'event: {name}\ndata: {{"type":"{name}",{rest}}}\n\n' for name, rest in events).encode()
    return HEAD.format(len(body)).encode() + body


async def serve(reply: bytes) -> None:
    """Answers whatever is posted."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.split(b":")[1]))
                counts = b"count_tokens" in head.split(b"\r\n", 1)[0]
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\n{"input_tokens": 9}' if counts else reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def peak_bytes(pid: int) -> int:
    """Peak resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
