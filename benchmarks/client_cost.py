"""What a streamed event costs the client, and how far off its times are: this rig against other ways to read a stream.

    python benchmarks/client_cost.py [--runs 5] [--stacks floor,loadrig,...] [--levels 1,32,128,512] [--json FILE]

Target: the null target on the first core. Client: a process of its own for every cell, on uvloop, on the second core.
`loadrig` is the worker whole: arm, prompt, wire, record, price, JSON of the record, two histograms; the others ask and
decode, and make no record. The stacks of one cell run one after the other, all cells are gone through `--runs` times,
and a figure is the median over the runs with the lowest and highest in brackets.

at once   replies of 10, 100, 1,000 tokens without delay, 32 streams: CPU a reply, fitted to fixed + marginal x events
paced     first token at 200 ms, one each 10 ms, 100 tokens, at each level: CPU an event (share of a core / events
          scheduled a second), TTFT and E2E error p50 and p99 (the client's interval less the target's, same request)

`loadrig` takes the kernel's receive stamps where there are any, `loadrig read` the reads' own, `loadrig tls` is the
first over TLS. A client that cannot keep up is marked `late`: fewer replies than 85 % of schedule.
In every client, the floor too, the worker's probe samples the loop lag (100 timers a second, about 0.1 % of a core).
Needs the extra `bench` (aiohttp, orjson), and openssl for a certificate.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import uvloop
from client_stacks import STACKS
from tabulate import tabulate

from loadrig.selftest.certificate import trusted_certificate
from loadrig.selftest.figures import fit, level
from loadrig.selftest.levels import BUSY_STREAMS, LENGTHS, pinned
from loadrig.selftest.null import Schedule, cores, null_target, truth
from loadrig.selftest.rig import MODEL, Window, rig
from loadrig.wire.turn import resolve
from loadrig.words.settings import ModelSettings
from loadrig.worker import worker as worker_module
from loadrig.worker.probe import Probe

LOADRIG = ("loadrig", "loadrig read", "loadrig tls")
ALL = ("floor", *LOADRIG, *[name for name in STACKS if name != "floor"])
Cell = tuple[int, Schedule]  # streams, schedule
Found = dict[tuple[str, Cell], list[dict[str, Any]]]


def main() -> int:
    """Runs every cell and prints the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--stacks", default=",".join(ALL))
    parser.add_argument("--levels", default="1,32,128,512")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", type=Path, help="write every run's figures to this file")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)  # stack, streams, schedule: one cell in this process
    options = parser.parse_args()
    if options.cell:
        return one_cell(options)
    print(f"command: python benchmarks/client_cost.py {shlex.join(sys.argv[1:])}")
    print(
        f"load average {os.getloadavg()[0]:.2f} before, {os.cpu_count()} cores, python {sys.version.split()[0]}, "
        f"uvloop; runs: {options.runs}, of {options.seconds:g} s each; median [lowest, highest]",
        flush=True,
    )
    cells: list[Cell] = [(BUSY_STREAMS, Schedule(int(length))) for length in options.lengths.split(",") if length]
    cells += [(int(streams), Schedule(100, 200, 10)) for streams in options.levels.split(",") if streams]
    stacks = options.stacks.split(",")
    found: Found = defaultdict(list)
    for _ in range(options.runs):
        for cell in cells:
            for stack in stacks:
                found[stack, cell].append(in_a_process(stack, cell, options.seconds))
    at_once(found, [cell for cell in cells if not cell[1].lasts_s], stacks)
    paced(found, [cell for cell in cells if cell[1].lasts_s], stacks)
    print(f"load average {os.getloadavg()[0]:.2f} at the end")
    if options.json:
        rows = [{"stack": stack, "runs": runs} for (stack, _), runs in found.items()]
        options.json.write_text(json.dumps(rows, indent=1))
    return 0


def in_a_process(stack: str, cell: Cell, seconds: float) -> dict[str, Any]:
    """One cell's figures, measured in a fresh process."""
    streams, schedule = cell
    given = [stack, str(streams), json.dumps(asdict(schedule))]
    command = [sys.executable, __file__, "--seconds", str(seconds), "--cell", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{stack}, {streams} streams: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def one_cell(options: argparse.Namespace) -> int:
    """Prints the figures of a cell as JSON."""
    stack, streams, schedule = options.cell[0], int(options.cell[1]), Schedule(**json.loads(options.cell[2]))
    target_core, client_core = cores()
    with ExitStack() as opened, asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        certificate = opened.enter_context(trusted_certificate(folder)) if stack.endswith("tls") else None
        with null_target(schedule, core=target_core, model=MODEL, certificate=certificate) as url:
            with pinned(client_core):
                if stack.endswith("read"):
                    worker_module.Engine = partial(worker_module.Engine, stamps="read")
                lasts = lengths_s(schedule, options.seconds)
                window = runner.run(
                    ours(url, streams, lasts) if stack in LOADRIG else theirs(stack, url, streams, lasts)
                )
            figures = level(window, schedule, streams, truth(url))
    print(json.dumps(asdict(figures)))
    return 0


def lengths_s(schedule: Schedule, seconds: float) -> tuple[float, float]:
    """Warm-up and window: whole replies of a paced schedule."""
    one = schedule.lasts_s
    return (one + 0.3, max(2, round(seconds / one)) * one) if one else (0.5, seconds)


async def ours(url: str, streams: int, lasts_s: tuple[float, float]) -> Window:
    """A window of the whole worker."""
    target = await resolve(ModelSettings(id=MODEL), url)
    with tempfile.TemporaryDirectory() as folder:
        async with rig(Path(folder), {MODEL: target}) as worker:
            return await worker.load(MODEL, streams, warm_s=lasts_s[0], seconds=lasts_s[1])


async def theirs(stack: str, url: str, streams: int, lasts_s: tuple[float, float]) -> Window:
    """A window of another client: `streams` tasks, each asking again as soon as it was answered."""
    window, is_open = Window(), True

    async def stream(ask: Any, number: int) -> None:
        asked = 0
        while is_open:
            asked += 1
            attempt = f"s{number}.{asked}.1"
            window.replies.append((attempt, *await ask(attempt)))

    probe = Probe()
    async with STACKS[stack](url) as ask, asyncio.TaskGroup() as group:
        sampling = group.create_task(probe.run())
        for number in range(streams):
            group.create_task(stream(ask, number))
        await asyncio.sleep(lasts_s[0])
        probe.take()
        begin, cpu = time.perf_counter(), time.process_time()
        await asyncio.sleep(lasts_s[1])
        window.seconds, window.cpu_s = time.perf_counter() - begin, time.process_time() - cpu
        seen = probe.take()
        window.lags_ns, window.pauses, window.loop = list(seen.lags_ns), seen.pauses, seen.loop
        is_open = False
        sampling.cancel()
    begin_ns, end_ns = begin * 1e9, (begin + window.seconds) * 1e9
    window.replies = [one for one in window.replies if begin_ns <= one[3] <= end_ns]
    return window


def at_once(found: Found, cells: list[Cell], stacks: list[str]) -> None:
    """CPU a reply by length, the fit, and the ceiling at 100 tokens (else at the second length)."""
    if not cells:
        return
    ceiling = next((cell for cell in cells if cell[1].tokens == 100), cells[min(1, len(cells) - 1)])
    rows = []
    for stack in stacks:
        costs = [[run["us_per_reply"] for run in found[stack, cell] if run] for cell in cells]
        fits = [
            fit([(c[1].events, run[n]) for c, run in zip(cells, costs, strict=True)])
            for n in range(min(map(len, costs)) if len(cells) > 1 else 0)
        ]
        rates = [run["events_per_s"] / run["cpu_share"] for run in found[stack, ceiling] if run]
        rows.append((
            stack, *(spread(values, 0) for values in costs), spread([one.fixed_us for one in fits], 0),
            spread([one.marginal_us for one in fits], 2), spread(rates, 0), replies(found[stack, ceiling]),
        ))  # fmt: skip
    lengths = [f"us/reply\n{cell[1].tokens} tokens" for cell in cells]
    ceilings = [f"{head}\nat {ceiling[1].tokens}" for head in ("events/s/core", "n replies")]
    show(f"at once, {BUSY_STREAMS} streams", ["fixed\nus/request", "marginal\nus/event", *ceilings], lengths, rows)


def paced(found: Found, cells: list[Cell], stacks: list[str]) -> None:
    """CPU an event and errors, by level."""
    heads = ("us/event", "TTFT error\np50 ms", "p99", "E2E error\np99 ms", "loop lag\np99 ms", "CPU share", "n replies")
    for cell in cells:
        rows = []
        for stack in stacks:
            runs = [run for run in found[stack, cell] if run]
            errors = (
                ("ttft_error", "p50_ns"), ("ttft_error", "p99_ns"), ("e2e_error", "p99_ns"), ("lag", "p99_ns"),
            )  # fmt: skip
            late = any(run["replies_per_s"] < 0.85 * cell[0] / cell[1].lasts_s for run in runs)
            stamps = "+".join(sorted({name for run in runs for name in run["stamps"]}))
            rows.append((
                stack, spread([run["us_per_event"] for run in runs], 1),
                *(spread(milliseconds(runs, of, at), 2) for of, at in errors),
                spread([run["cpu_share"] for run in runs], 2), replies(runs), "late" if late else "", stamps,
            ))  # fmt: skip
        show(f"paced, {cell[0]} streams", [*heads, "", "stamps"], [], rows)


def show(title: str, heads: list[str], first: list[str], rows: list[tuple[str, ...]]) -> None:
    """A table, columns set to the right under their heads."""
    headers = ["stack", *first, *heads]
    print(f"\n{title}")
    aligned = ("left", *["right"] * (len(headers) - 1))
    print(tabulate(rows, headers, tablefmt="simple", colalign=aligned, disable_numparse=True), flush=True)


def replies(runs: list[dict[str, Any]]) -> str:
    """How many the figures are made of, over all runs."""
    return str(sum(run.get("replies", 0) for run in runs))


def milliseconds(runs: list[dict[str, Any]], of: str, at: str) -> list[float]:
    """One quantile of every run that has it."""
    return [run[of][at] / 1e6 for run in runs if run[of][at] is not None]


def spread(values: list[float], digits: int) -> str:
    """`median [lowest, highest]`."""
    if not values:
        return "-"
    middle, low, high = (f"{value:,.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{middle} [{low}, {high}]"


if __name__ == "__main__":
    sys.exit(main())
