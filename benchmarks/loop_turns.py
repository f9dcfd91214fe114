"""How long the worker's loop is held: CPU time of each of its turns, with hundreds of streams in step.

    python benchmarks/loop_turns.py [--streams 512] [--seconds 3.6]

Target: the null target on the first core, first token at 200 ms, one each 10 ms, 100 tokens; the worker whole on the
second, on asyncio's own loop, whose turns can be timed. A timer, and the reads of other streams, wait for a turn to
end, so the turn that a random busy instant falls into is what loop lag comes from; unlike lag, CPU time can be compared
on a machine that does other work too. `--seconds` are the last of the run; a warm-up comes before.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence

from client_cost import ours

from loadrig.selftest.levels import PACED, pinned
from loadrig.selftest.null import cores, null_target
from loadrig.selftest.rig import MODEL

MS = 1_000_000


class TimedLoop(asyncio.SelectorEventLoop):
    """Notes when each turn ended and the CPU time it took, in nanoseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[tuple[int, int]] = []

    def _run_once(self) -> None:
        before_ns = time.thread_time_ns()
        super()._run_once()
        self.turns.append((time.perf_counter_ns(), time.thread_time_ns() - before_ns))


def main() -> int:
    """Runs once and prints two lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=3.6)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores, python {sys.version.split()[0]}, asyncio")
    loop = TimedLoop()
    target_core, rig_core = cores()
    with (
        null_target(PACED, core=target_core, model=MODEL) as url,
        pinned(rig_core),
        asyncio.Runner(loop_factory=lambda: loop) as runner,
    ):
        runner.run(ours(url, options.streams, (PACED.lasts_s + 0.3, options.seconds)))
    from_ns = loop.turns[-1][0] - int(options.seconds * 1e9)
    turns = sorted(took_ns for at_ns, took_ns in loop.turns if at_ns >= from_ns)
    print(f"{len(turns)} turns, {sum(turns) / MS:.0f} ms of CPU, the longest " + in_ms(turns[-5:]))
    print(
        "the turn that a busy instant falls into: p50, p90, p99 "
        + in_ms([weighted(turns, q) for q in (0.5, 0.9, 0.99)])
    )
    return 0


def in_ms(lengths_ns: Sequence[int]) -> str:
    """Milliseconds, for people."""
    return ", ".join(f"{length / MS:.1f}" for length in lengths_ns) + " ms"


def weighted(ordered: Sequence[int], share: float) -> int:
    """The length of turn that `share` of the busy time falls into, or into a shorter one."""
    left = share * sum(ordered)
    for length in ordered:
        left -= length
        if left <= 0:
            return length
    return ordered[-1]


if __name__ == "__main__":
    sys.exit(main())
