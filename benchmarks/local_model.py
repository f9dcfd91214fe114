"""The plan of the local model, on the local model: what each arm gets and takes, and the server's counters beside ours.

    python benchmarks/local_model.py [--limit 10] [--concurrency 1,4,8]

`make model-server` must have been run once; this starts a server of its own and ends it. Right is told by the
pre-check of words, all answers counted, the cut ones too. TTFT is the client's, p50 of each stage. The server counts
prompt tokens that it worked through (those it had in its cache are left out, as they are in `input_tokens`) and tokens
it made.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

from model_server import model_server
from tabulate import tabulate

from loadrig.graders.precheck import passes
from loadrig.log import RunFolder, read_run
from loadrig.words.record import Record

ROOT = Path(__file__).resolve().parents[1]
COUNTERS = ("prompt_tokens_total", "tokens_predicted_total")


def main() -> int:
    """Runs the plan and prints two tables; exit code 1 when counters differ, or a trial failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=10, help="questions")
    parser.add_argument("--concurrency", default="1,4,8")
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.2f} before", flush=True)
    with tempfile.TemporaryDirectory() as folder, model_server() as url:
        command = [sys.executable, "-c", "from loadrig.cli import main; main()", "run"]
        command += [str(ROOT / "plans" / "local-model.toml"), "--base-url", url, "--inline", "--out", folder]
        command += ["--limit", str(options.limit)]
        command += [word for level in options.concurrency.split(",") for word in ("--concurrency", level)]
        before = counters(url)
        subprocess.run(command, check=False, stdout=sys.stderr, cwd=ROOT)
        after = counters(url)
        (place,) = (path for path in Path(folder).iterdir() if path.is_dir())
        run = read_run(place)
        rows = list(figures(run))
        ours = counted(run)
    theirs = {name: after[name] - before[name] for name in COUNTERS}
    print(tabulate(rows, ("arm", "in flight", "outcomes", "right", "prompt tokens", "cached", "TTFT p50, s"), "pipe"))
    print()
    print(tabulate([(name, theirs[name], ours[name]) for name in COUNTERS], ("counter", "server's", "ours"), "pipe"))
    return int(theirs != ours or any(record.outcome == "failed" for record in run.records))


def counters(url: str) -> dict[str, int]:
    """Those of the server's own metrics that have a counterpart here."""
    with urllib.request.urlopen(f"{url}/metrics") as reply:
        text = reply.read().decode()
    found = {name: re.search(rf"^llamacpp:{name} (\S+)$", text, re.MULTILINE) for name in COUNTERS}
    return {name: int(float(value[1])) if value else 0 for name, value in found.items()}


def counted(run: RunFolder) -> dict[str, int]:
    """The same of every attempt on record: warm-up, probe and lower tries too."""
    records = (*run.records, *run.superseded, *run.probes)
    attempts = [attempt for record in records for turn in record.turns for attempt in turn.attempts]
    usages = [attempt.usage for attempt in attempts if attempt.usage is not None]
    sums = (sum(usage.input or 0 for usage in usages), sum(usage.output or 0 for usage in usages))
    return dict(zip(COUNTERS, sums, strict=True))


def figures(run: RunFolder) -> list[tuple[object, ...]]:
    """One row for each arm and stage."""
    cells: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in run.records:
        if record.phase != "warmup":
            cells[record.arm, record.stage].append(record)
    return [(arm, stage.removeprefix("c"), *of_cell(run, records)) for (arm, stage), records in sorted(cells.items())]


def of_cell(run: RunFolder, records: list[Record]) -> tuple[object, ...]:
    """Outcomes, right answers, tokens a prompt and how much of them was cached, TTFT."""
    outcomes = Counter(record.reason or record.outcome for record in records)
    right = sum(passes(record.answer, run.questions[record.question].must_contain) for record in records)
    usages = [record.usage for record in records if record.usage is not None]
    cached = sum(usage.cache_read or 0 for usage in usages)
    prompts = cached + sum(usage.input or 0 for usage in usages)
    times = [record.trial_ttft_ns / 1e9 for record in records if record.trial_ttft_ns is not None]
    return (
        ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()),
        f"{right} of {len(records)}",
        f"{prompts / max(len(usages), 1):,.0f}",
        f"{cached / max(prompts, 1):.0%}",
        f"{median(times):.2f}" if times else "-",
    )


if __name__ == "__main__":
    sys.exit(main())
