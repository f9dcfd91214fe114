"""Other people's clients against the simulated provider: what of each works, as a Markdown table.

    python benchmarks/client_matrix.py [--only anthropic,openai,aiperf] [--installed]

The official SDKs are those of this environment, AIPerf has one of its own (`peers.py`; with `--installed` nothing is
installed). A row is one thing a client does, on a simulator of its own scenario; it holds when what the client makes of
it agrees with the simulator's log. Exception classes are shown as the client names them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata

import anthropic
import anthropic_checks
import openai
import openai_checks
from aiperf_run import Load, aiperf
from anthropic_checks import FAST, MODEL, QUESTION, Check
from peers import MissingError, install, program, said, version
from simulated_target import Simulator, simulator
from tabulate import tabulate

AIPERF, ANTHROPIC, OPENAI = "aiperf", "anthropic", "openai"


def checks() -> Iterator[tuple[str, str, str, Check]]:
    """Client, what it does, scenario, check."""
    yield from ((ANTHROPIC, *row) for row in anthropic_checks.ROWS)
    yield from ((OPENAI, *row) for row in openai_checks.ROWS)
    yield AIPERF, "endpoint type `messages`, streamed", FAST, load_tester


def load_tester(sim: Simulator) -> str:
    """AIPerf gets through without an error and counts what the log counts."""
    path = program(AIPERF)
    if path is None:
        raise MissingError("not installed")
    run = aiperf(path, sim.url, Load(4, 20), model=MODEL, texts=[QUESTION])
    assert not run.refused, run.refused[:3]
    rows = sim.rows(20)
    assert sorted(record.output or 0 for record in run.records) == sorted(row["output"] for row in rows)
    return f"{len(run.records)} requests, 4 at once; output tokens as in the log"


def main() -> int:
    """Checks every client and prints the table; exit code 1 when one does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=f"{ANTHROPIC},{OPENAI},{AIPERF}", help="clients, separated by commas")
    parser.add_argument("--installed", action="store_true", help="install nothing")
    options = parser.parse_args()
    chosen = options.only.split(",")
    if AIPERF in chosen and not options.installed:
        install(AIPERF)
    rows, failed = [], 0
    for name, what, scenario, check in checks():
        if name not in chosen:
            continue
        said(f"{name}: {what} ...")
        with simulator(scenario) as sim:
            try:
                told, holds = check(sim), "yes"
            except MissingError as error:
                told, holds = str(error), "-"
            except (
                AssertionError,
                anthropic.AnthropicError,
                openai.OpenAIError,
                OSError,
                subprocess.SubprocessError,
            ) as error:
                told, holds, failed = f"{type(error).__name__}: {str(error)[:200]}", "NO", failed + 1
        rows.append([f"{name} {released(name)}", what, holds, told])
    print(tabulate(rows, ("client", "what", "holds", "seen"), "pipe"))
    return int(failed > 0)


def released(name: str) -> str:
    """Which version of it."""
    return version(name) if name == AIPERF else metadata.version(name)


if __name__ == "__main__":
    sys.exit(main())
