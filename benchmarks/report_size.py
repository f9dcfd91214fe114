"""What the reports of a long run take: seconds and memory of each step, and the size of every file.

    python benchmarks/report_size.py [--trials 200000] [--small RUN] [--keep DIR] [--of RUN]

A run of 20 questions in sixteen arms at two loads is made once on the embedded simulator. Its records are repeated
under new trial ids, their times moved on and jittered, until there are so many; the folder is reported on as `loadrig
report` does it, in a process of its own, whose address space is limited to 4 GiB. Exit code 1 when report.html is over
6 MB. With `--small` that run is repeated, with `--of` nothing is made, and that run is reported on.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import read_memory

from loadrig.log import RECORDS
from loadrig.reports import FILES

MOST_BYTES, MEMORY = 6_000_000, 4 << 30
ARMS = """\
[[arm]]
kind = "rag"
k = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20]
[[arm]]
kind = "full_context"
cache = ["off", "1h"]
[[arm]]
kind = "agentic"
[[arm]]
kind = "decompose"
"""
PLAN = read_memory.PLAN_TOML.replace('[[arm]]\nkind = "rag"\nk = [5, 10]\n[[arm]]\nkind = "agentic"\n', ARMS).replace(
    "concurrency = [8]", "concurrency = [4, 8]"
)
ANSWER_BYTES = 400


def main() -> int:
    """Makes the run, reports on it, says how large the files are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200_000)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the run here")
    parser.add_argument("--small", type=Path, metavar="RUN", help="repeat the records of this one")
    parser.add_argument("--of", type=Path, metavar="RUN")
    options = parser.parse_args()
    if options.of is not None:
        return measured(options.of)
    with tempfile.TemporaryDirectory() as name:
        read_memory.PLAN_TOML = PLAN
        small = options.small or read_memory.fired(Path(name))
        folder = options.keep or Path(name, "large")
        read_memory.repeated(small, folder, options.trials, ANSWER_BYTES)
        size = (folder / RECORDS).stat().st_size
        told = f"records.jsonl {size / 1e6:.0f} MB; load average {os.getloadavg()[0]:.1f}"
        print(f"{options.trials} trials, {told}", flush=True)
        code = subprocess.run([sys.executable, __file__, "--of", str(folder)], check=False).returncode
        if options.keep is None:
            shutil.rmtree(folder)
    return code


def measured(folder: Path) -> int:
    """Reports on a run within the memory, and prints each step and each file."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    read_memory.measured(folder)
    for name in FILES:
        print(f"{name:16} {(folder / name).stat().st_size:12,} bytes")
    for picture in sorted((folder / "pictures").glob("*.png")):
        print(f"pictures/{picture.name:16} {picture.stat().st_size:12,} bytes")
    return int((folder / "report.html").stat().st_size > MOST_BYTES)


if __name__ == "__main__":
    sys.exit(main())
