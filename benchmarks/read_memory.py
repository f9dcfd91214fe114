"""What it takes to report on a long run: seconds and resident memory of each step, from the records to each file.

    python benchmarks/read_memory.py [--trials 2000 20000] [--answer-bytes 10000] [--of RUN]

A run of 20 questions by four arms on the embedded simulator is made once. Its records are repeated under new trial ids,
their times moved on and jittered, each answer filled up to the size with sentences of the corpus, no two alike; and
their plan with them. The folder is then reported on as `loadrig report` does it, in a process of its own. Peak and rest
are the kernel's, the peak of each step by itself. With `--of` nothing is made, and that run is reported on.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from loadrig.analysis.summary import summarize
from loadrig.graders.standing import graded
from loadrig.log import PLAN, RECORDS, read_run
from loadrig.reports import FILES
from loadrig.words.record import SCHEMA, Record
from loadrig.words.trial import Trial

ROOT = Path(__file__).resolve().parents[1]
PLAN_TOML = f"""\
name = "read"
[corpus]
path = "{ROOT}/corpora/huskbook"
[questions]
path = "{ROOT}/questions/huskbook.jsonl"
limit = 20
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = [5, 10]
[[arm]]
kind = "agentic"
[load]
concurrency = [8]
warmup = 0
cycle = false
"""
JITTER_NS = 20_000_000
T = TypeVar("T")


def main() -> int:
    """Makes each folder, reports on it, and removes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--answer-bytes", type=int, default=10_000)
    parser.add_argument("--of", type=Path, metavar="RUN")
    options = parser.parse_args()
    if options.of is not None:
        measured(options.of)
        return 0
    with tempfile.TemporaryDirectory() as name:
        small = fired(Path(name))
        for trials in options.trials:
            folder = Path(name, f"n{trials}")
            repeated(small, folder, trials, options.answer_bytes)
            load = os.getloadavg()[0]
            print(f"{trials} trials, answers of {options.answer_bytes} bytes; load average {load:.1f}", flush=True)
            subprocess.run([sys.executable, __file__, "--of", str(folder)], check=True)
            shutil.rmtree(folder)
    return 0


def fired(out: Path) -> Path:
    """The folder of a small run."""
    plan = out / "plan.toml"
    plan.write_text(PLAN_TOML)
    command = [Path(sys.executable).with_name("loadrig"), "run", plan, "--inline", "--out", out / "small"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return next((out / "small").iterdir())


def repeated(small: Path, folder: Path, trials: int, answer_bytes: int) -> None:
    """A folder with so many of the small run's trials."""
    shutil.copytree(small, folder)
    own = [msgspec.json.decode(line, type=Record) for line in (small / RECORDS).read_bytes().splitlines()[1:]]
    trials_on_file = (msgspec.json.decode(line, type=Trial) for line in (small / PLAN).read_bytes().splitlines())
    plan = {trial.id: trial for trial in trials_on_file}
    fill = sentences(random.Random(7), answer_bytes)
    encode = msgspec.json.Encoder().encode
    with (folder / RECORDS).open("wb") as records, (folder / PLAN).open("wb") as planned:
        records.write(encode({"schema": SCHEMA, "kind": "loadrig records"}) + b"\n")
        for number in range(trials):
            record = own[number % len(own)]
            made = moved(record, number // len(own), next(fill))
            trial = replace(plan[record.trial], id=made.trial, position=number, repetition=made.repetition)
            records.write(encode(made) + b"\n")
            planned.write(encode(trial) + b"\n")


def moved(record: Record, again: int, filling: str) -> Record:
    """The record as of the `again`-th repetition, its answer filled up."""
    jitter = random.Random(f"{again}/{record.trial}").randrange(JITTER_NS)
    later_ns = again * 10_000_000_000
    answer = f"{record.answer} {filling}" if record.answer else ""
    last = tuple(replace(turn, text=answer, ttft_ns=(turn.ttft_ns or 0) + jitter) for turn in record.turns[-1:])
    began = datetime.fromisoformat(record.began_at or "2026-01-01T00:00:00Z") + timedelta(microseconds=later_ns / 1e3)
    return replace(
        record,
        trial=blake2b(f"{again}/{record.trial}".encode(), digest_size=6).hexdigest(),
        repetition=record.repetition + again,
        began_at=began.isoformat().replace("+00:00", "Z"),
        begin_ns=(record.begin_ns or 0) + later_ns,
        end_ns=(record.end_ns or 0) + later_ns + jitter,
        service_ns=(record.service_ns or 0) + jitter,
        trial_ttft_ns=(record.trial_ttft_ns or 0) + jitter,
        ttfat_ns=(record.ttfat_ns or 0) + jitter,
        answer=answer,
        turns=(*record.turns[:-1], *last),
    )


def sentences(draw: random.Random, size: int) -> Iterator[str]:
    """Texts of so many bytes, without end: what answers are made of."""
    texts = " ".join(path.read_text() for path in sorted((ROOT / "corpora/huskbook").rglob("*.md")))
    known = [one for one in re.split(r"(?<=[.!?])\s+", texts) if one.isascii()]
    while True:
        yield " ".join(draw.choices(known, k=size // 40))[:size]


def measured(folder: Path) -> None:
    """Reports on a run and prints what each step took."""
    size = (folder / RECORDS).stat().st_size
    print(f"{'step':16} {'seconds':>8} {'CPU s':>8} {'peak MB':>8} {'rest MB':>8}   records.jsonl {size / 1e6:.0f} MB")
    run = step("read", lambda: graded(read_run(folder)))
    summary = step("summarize", lambda: summarize(run))
    for name, target in FILES.items():
        module, _, write = target.partition(":")
        step(name, partial(getattr(import_module(module), write), run, summary))


def step(name: str, what: Callable[[], T]) -> T:
    """Does it and prints seconds, CPU seconds, peak and rest."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    began, began_cpu = time.perf_counter(), time.process_time()
    found = what()
    took_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
    status = Path("/proc/self/status").read_text()
    peak, rest = (int(re.search(rf"{row}:\s+(\d+)", status)[1]) * 1024 / 1e6 for row in ("VmHWM", "VmRSS"))  # type: ignore[index]
    print(f"{name:16} {took_s:8.1f} {cpu_s:8.1f} {peak:8.0f} {rest:8.0f}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
