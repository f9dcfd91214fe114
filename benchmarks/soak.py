"""100,000 requests through the whole worker: memory, sockets and tasks before and after.

    python benchmarks/soak.py [--requests 100000] [--streams 32] [--tokens 20]

Target: the null target, replies without delay, on the first core; the worker on the second. Memory (resident set) is
read after a tenth of the requests, when everything that is made once has been made, and at the end; sockets and tasks
in between too. Exit code 1 when memory grew by more than 5 MB, or a socket or task was left over.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from loadrig.selftest.levels import pinned
from loadrig.selftest.null import Schedule, cores, null_target
from loadrig.selftest.rig import MODEL, rig
from loadrig.wire.turn import resolve
from loadrig.words.settings import ModelSettings

ROOM_BYTES = 5_000_000


def main() -> int:
    """Runs and prints one line a tenth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=20)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, python {sys.version.split()[0]}, uvloop")
    target_core, rig_core = cores()
    with (
        null_target(Schedule(options.tokens), core=target_core, model=MODEL) as url,
        pinned(rig_core),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        grown, left_sockets, left_tasks = runner.run(soaked(url, options))
    print(f"memory grew by {grown / 1e6:+.1f} MB; left over: {left_sockets} sockets, {left_tasks} tasks")
    return int(grown > ROOM_BYTES or left_sockets > 0 or left_tasks > 0)


async def soaked(url: str, options: argparse.Namespace) -> tuple[int, int, int]:
    """Bytes of memory grown after the first tenth, and sockets and tasks that outlived the worker."""
    target = await resolve(ModelSettings(id=MODEL), url)
    sockets_before, tasks_before = sockets(), len(asyncio.all_tasks())
    readings: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        async with rig(Path(folder), {MODEL: target}) as worker:
            began = time.perf_counter()
            while worker.asked < options.requests:
                window = await worker.load(MODEL, options.streams, warm_s=0.0, seconds=0.5)
                if worker.asked < options.requests * (len(readings) + 1) // 10:
                    continue
                gc.collect()
                readings.append(resident_bytes())
                print(
                    f"{worker.asked:8} asked  {worker.asked / (time.perf_counter() - began):7.0f}/s  "
                    f"{readings[-1] / 1e6:7.1f} MB  {sockets() - sockets_before} sockets  "
                    f"{len(asyncio.all_tasks()) - tasks_before} tasks  {window.failed} failed"
                )
    return readings[-1] - readings[0], sockets() - sockets_before, len(asyncio.all_tasks()) - tasks_before


def resident_bytes() -> int:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def sockets() -> int:
    """Open sockets of this process."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the descriptor by which the folder is listed
            found += str(link.readlink()).startswith("socket:")
    return found


if __name__ == "__main__":
    sys.exit(main())
