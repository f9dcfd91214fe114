"""How many trials a second 1, 2 and 4 workers bring home, and how long a run takes to begin, by kind of fleet.

    python benchmarks/fleet_throughput.py [--trials 4000] [--tokens 10] [--fleets inline,process,ray] [--workers 1,2,4]

Whole runs through the command, against the null target: 64 trials in flight, control arm, replies of so many tokens in
one write and without delay, so that the rig is the only limit. Target, workers, driver and Ray share this machine's
cores: four workers on two cores show what sharing costs, not what four cores would give. Throughput is that of the
answered trials between the first begin and the last end; `begins after` is from the command's start to the first
trial's begin. The CPU is of all processes of the run, start included, less those of the target.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

from loadrig.log import read_run
from loadrig.selftest.null import Schedule, null_target
from loadrig.selftest.rig import MODEL

PLAN = """
name = "throughput"
[corpus]
path = "CORPUS"
[questions]
path = "QUESTIONS"
limit = 4
[[model]]
id = "MODEL"
base_url = "URL"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 1
[load]
concurrency = [64]
warmup = 0
least = TRIALS
workers = WORKERS
cpus_per_worker = 0.25
"""
COMMAND = [sys.executable, "-c", "from loadrig.cli import main; main()"]


def main() -> int:
    """One run each, a line a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--tokens", type=int, default=10)
    parser.add_argument("--fleets", default="inline,process,ray")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--corpus", default="corpora/tiny")
    parser.add_argument("--questions", default="questions/tiny.jsonl")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f}, {os.cpu_count()} cores; {options.trials} trials a run")
    print("fleet    workers  trials/s  begins after  whole run  CPU of it")
    with null_target(Schedule(options.tokens), model=MODEL) as url:
        for fleet in options.fleets.split(","):
            for workers in map(int, options.workers.split(",")):
                if fleet != "inline" or workers == 1:
                    print(_measured(url, fleet, workers, options), flush=True)
    return 0


def _measured(url: str, fleet: str, workers: int, options: argparse.Namespace) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = PLAN.replace("MODEL", MODEL).replace("URL", url).replace("TRIALS", str(options.trials))
        text = text.replace("QUESTIONS", options.questions).replace("CORPUS", options.corpus)
        (folder / "plan.toml").write_text(text.replace("WORKERS", str(workers)))
        command = [*COMMAND, "run", str(folder / "plan.toml"), "--out", str(folder / "results"), "--fleet", fleet]
        used, begun, began_at = _children_s(), time.perf_counter(), time.time()
        done = subprocess.run(
            command, env={**os.environ, "ANTHROPIC_API_KEY": "no-key"}, capture_output=True, text=True, check=False
        )
        took = time.perf_counter() - begun
        if done.returncode:
            return f"{fleet:<9}{workers:>7}  failed: {done.stdout[-300:]}{done.stderr[-300:]}"
        (results,) = (folder / "results").iterdir()
        records = [record for record in read_run(results).records if record.outcome == "answered"]
    first_ns = min(record.begin_ns for record in records if record.begin_ns is not None)
    last_ns = max(record.end_ns for record in records if record.end_ns is not None)
    first_at = min(record.began_at for record in records if record.began_at is not None)
    after_s = datetime.fromisoformat(first_at).timestamp() - began_at
    rate = len(records) / ((last_ns - first_ns) / 1e9)
    return f"{fleet:<9}{workers:>7}{rate:>10.0f}{after_s:>12.1f} s{took:>9.1f} s{_children_s() - used:>9.1f} s"


def _children_s() -> float:
    """CPU of the processes that have ended and been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
