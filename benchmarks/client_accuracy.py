"""How far the client's clock is off: its figures against the simulator's own log of the same requests.

    python benchmarks/client_accuracy.py [--levels 1,32,128] [--rounds 5] [--tokens 40] [--spread] [--stamps read]

Target: `python -m loadrig.simulator --scenario paced` (first token at 200 ms, then one each 50 ms) pinned to the first
core; the client, one process on uvloop, to the second. Both clocks are CLOCK_MONOTONIC, so stamps may be subtracted.
A warming round before each level opens the connections and is not counted.

ttft      (client first token - client begin) - (server first token - server received): connect, send leg and read side
read      client first token - server first token: the read side alone
last      the same for the last token
send      server received - client begin; what `upload` does not cover of it is the server's own queue
upload    client begin to an empty write buffer
lag       largest lag of any read of an attempt behind its kernel stamp
cpu       the client's CPU time for each content event, share of one core
stamps    attempts with kernel stamps; of those, late ones (an upper bound)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvloop

from loadrig.wire.engine import Engine
from loadrig.wire.turn import Asked, Asker, Target, resolve
from loadrig.words.clock import SystemClock
from loadrig.words.prompt import Ask, Part, Prompt
from loadrig.words.settings import LimitSettings, ModelSettings, RetrySettings


@dataclasses.dataclass(frozen=True)
class Level:
    """Attempt label -> what came back; CPU time of this process and wall time for all of it."""

    asked: dict[str, Asked]
    cpu_s: float
    wall_s: float


PROMPT = Prompt("Answer.", (Ask((Part("Question: how late are you?"),)),))


def main() -> int:
    """Runs every level and prints one line each; exit code 1 when a count differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default="1,32,128")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=40)
    parser.add_argument("--stamps", choices=("kernel", "read"), default="kernel")
    parser.add_argument("--spread", action="store_true", help="spread the starts of a round over 200 ms")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[1:2])
    print(
        f"load average {os.getloadavg()[0]:.2f}, cores {cores[:2]}, python {sys.version.split()[0]}, uvloop, ", end=""
    )
    print(f"stamps {options.stamps}")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "truth.jsonl"
        with simulator(log, cores[0]) as url, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            levels = [int(level) for level in options.levels.split(",")]
            results = runner.run(measured(url, options, levels))
        truth = {row["attempt"]: row for row in map(json.loads, log.read_text().splitlines())}
    equal = [report(level, asked, truth) for level, asked in results]
    return int(not all(equal))


@contextlib.contextmanager
def simulator(log: Path, core: int) -> Iterator[str]:
    """The target's base URL, on a core of its own."""
    command = ["taskset", "-c", str(core), sys.executable, "-m", "loadrig.simulator", "--scenario", "paced"]
    command += ["--port", "0", "--truth-log", str(log), "--exit-with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().split()[-1]
        process.stdin.close()
        process.wait(10)


async def measured(url: str, options: argparse.Namespace, levels: list[int]) -> list[tuple[int, Level]]:
    """Each level with what came back in it."""
    target = await resolve(ModelSettings(id="m-1", max_tokens=options.tokens), url)
    return [(level, await one_level(target, level, options)) for level in levels]


async def one_level(target: Target, level: int, options: argparse.Namespace) -> Level:
    """What came back, warming round left out."""
    found: dict[str, Asked] = {}
    began = (0.0, 0.0)
    async with Engine(SystemClock(), stamps=options.stamps) as engine:
        asker = Asker(engine, target, LimitSettings(), RetrySettings())

        async def one(lap: int, number: int) -> None:
            await asyncio.sleep(0.2 * number / level if options.spread else 0)
            trace = f"n{level}-{lap}-{number}.1"
            found[f"{trace}.1"] = await asker.ask(PROMPT, trace=trace)

        for lap in range(options.rounds + 1):
            await asyncio.gather(*(one(lap, number) for number in range(level)))
            if lap == 0:
                found.clear()
                began = (time.process_time(), time.perf_counter())
    return Level(found, time.process_time() - began[0], time.perf_counter() - began[1])


def report(level: int, got_there: Level, truth: dict[str, dict[str, Any]]) -> bool:
    """One line of errors in milliseconds; whether all counts are equal."""
    asked = got_there.asked
    errors: dict[str, list[float]] = {"ttft": [], "read": [], "last": [], "send": [], "upload": [], "lag": []}
    attempts = [got.turn.attempts[0] for got in asked.values()]
    equal = True
    for label, got in asked.items():
        turn, row = got.turn, truth[label]
        attempt = turn.attempts[0]
        assert attempt.failure is None, attempt.failure
        send = row["received_ns"] - attempt.begin_ns
        read = attempt.first_token_ns - row["first_token_ns"]
        errors["ttft"].append((send + read) / 1e6)
        errors["read"].append(read / 1e6)
        errors["last"].append((attempt.last_token_ns - row["last_token_ns"]) / 1e6)
        errors["send"].append(send / 1e6)
        errors["upload"].append(attempt.upload_ns / 1e6)
        errors["lag"] += [] if attempt.read_lag_max_ns is None else [attempt.read_lag_max_ns / 1e6]
        counted = (turn.usage.output, turn.usage.input, hashlib.sha256(turn.text.encode()).hexdigest())
        equal &= counted == (row["output"], row["input"], row["text_sha256"])
    sent = sum(1 for label in truth if label.startswith(f"n{level}-") and not label.startswith(f"n{level}-0-"))
    equal &= sent == len(asked)
    figures = "   ".join(f"{name} {quantiles(values)}" for name, values in errors.items() if values)
    events = sum(1 + got.turn.gaps.count if got.turn.gaps else 1 for got in asked.values())
    cost = f"cpu {got_there.cpu_s * 1e6 / events:.1f} us/event, {got_there.cpu_s / got_there.wall_s:.2f} core"
    kernel = [attempt for attempt in attempts if attempt.stamp == "kernel"]
    stamps = f"stamps {len(kernel)} kernel, {sum(attempt.stamp_late for attempt in kernel)} late"
    print(f"N {level:4}  n {len(asked):5}  {figures}   counts {'equal' if equal else 'DIFFER'}   {cost}   {stamps}")
    return equal


def quantiles(values: list[float]) -> str:
    """p50 / p95 / p99 / max by nearest rank."""
    ordered = sorted(values)
    return " / ".join(f"{ordered[-(-len(ordered) * p // 100) - 1]:.3f}" for p in (50, 95, 99, 100))


if __name__ == "__main__":
    sys.exit(main())
