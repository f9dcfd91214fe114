"""AIPerf and loadrig on the same target, side by side with what the target knows: do strangers agree?

    python benchmarks/agreement.py [--levels 1,32,128] [--runs 3] [--scenarios fixed,queue] [--json FILE]

Target: the simulated provider, on the first core; clients, in turn, on the others. Same scenario, same number in
flight, same requests in all; who is first changes from run to run. AIPerf has an environment of its own (`peers.py`; it
is installed if it is not there). Some nine minutes as it stands; on a machine that others use the figures are theirs.

fixed   first token 200 ms after the request, then one each 10 ms, 100 tokens: nothing waits
queue   16 requests served at once, the others wait: first token after the wait and 100 ms, then 60 tokens at 5 ms

Medians over the runs. Truth is the target's log of the same requests: TTFT from the request's headers to the instant
its first token was handed to the kernel, latency to the last byte. A request is found in it by the name the client
gave it (x-loadrig-attempt, x-request-id), so an error is that of one request: the client's time less the target's,
p50 / p99.
rate    requests a second, from the first begin to the last end
cpu     CPU seconds of all the client's processes, and what is left of them when a run of a single request is taken off,
        for each token event
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from aiperf_run import Load, aiperf, waited
from peers import install, program, said, version
from simulated_target import Simulator, simulator
from tabulate import tabulate

from loadrig.log import read_run

ROOT = Path(__file__).resolve().parents[1]
MODEL = "claude-haiku-5-5"
SCENARIOS = {
    "fixed": "slots = 4096\nbase_ms = 200\ndecode_ms_per_token = 10\nfixed_answer_tokens = 100\n",
    "queue": "slots = 16\nbase_ms = 100\ndecode_ms_per_token = 5\nfixed_answer_tokens = 60\n",
}
EXACT = "prefill_us_per_token = 0\njitter = 0\n"
PLAN = """\
name = "agreement"
probe = false
repetitions = {repetitions}
[corpus]
path = "{root}/corpora/tiny"
[questions]
path = "{root}/questions/tiny.jsonl"
[[model]]
id = "{model}"
base_url = "{url}"
[[arm]]
kind = "control"
[load]
concurrency = [{concurrency}]
warmup = {warmup}
cycle = false
"""
QUESTIONS = 4  # in that file


@dataclass(frozen=True)
class Seen:
    """A request as its client saw it: the name it has in the log, instants of the client's clock, times in ms."""

    name: str
    begin_ns: int
    end_ns: int
    ttft_ms: float
    latency_ms: float
    output: int


@dataclass(frozen=True)
class Run:
    """One client's run: the figures of a row. Errors in ms, those of TTFT and latency by request."""

    n: int
    ttft: tuple[float, float]
    ttft_truth: tuple[float, float]
    ttft_error: tuple[float, float]
    latency: tuple[float, float]
    latency_truth: tuple[float, float]
    latency_error: tuple[float, float]
    rate: float
    rate_truth: float
    output: int
    output_truth: int
    failed: int = 0
    cpu_s: float = 0.0
    event_us: float = 0.0


def main() -> int:
    """Runs everything, prints a table for each scenario; exit code 1 when counts differ from the log's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", default="1,32,128")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--json", type=Path, help="every run's figures to this file")
    options = parser.parse_args()
    install("aiperf")
    cores = sorted(os.sched_getaffinity(0))
    said(f"load average {os.getloadavg()[0]:.2f} before")
    levels = [int(level) for level in options.levels.split(",")]
    idle_s = {client: fire(client, "fixed", Load(1, 1)).cpu_s for client in CLIENTS}
    runs: dict[tuple[str, int, str], list[Run]] = {}
    for number in range(options.runs):
        for scenario in options.scenarios.split(","):
            for level in levels:
                for client in list(CLIENTS)[:: 1 if number % 2 == 0 else -1]:
                    said(f"run {number + 1}, {scenario}, {level} in flight, {client} ...")
                    load = Load(level, QUESTIONS * level, level)
                    run = fire(client, scenario, load)
                    event_us = (run.cpu_s - idle_s[client]) / max(run.output_truth, 1) * 1e6
                    runs.setdefault((scenario, level, client), []).append(replace(run, event_us=event_us))
    print(
        f"loadrig and aiperf {version('aiperf')}; {len(cores)} cores, python {sys.version.split()[0]}; medians of "
        f"{options.runs} runs; load average {os.getloadavg()[0]:.2f} at the end; start and end of a run alone: "
        + ", ".join(f"{client} {idle_s[client]:.1f} s of CPU" for client in CLIENTS)
    )
    for scenario in options.scenarios.split(","):
        rows = [row(level, client, runs[scenario, level, client]) for level in levels for client in CLIENTS]
        print(f"\n{scenario}:\n\n{tabulate(rows, HEADERS, 'pipe')}")
    if options.json:
        told = [{"scenario": s, "level": n, "client": c, "runs": list(map(asdict, r))} for (s, n, c), r in runs.items()]
        options.json.write_text(json.dumps(told, indent=1))
    return int(any(run.output != run.output_truth or run.failed for each in runs.values() for run in each))


HEADERS = (
    "in flight", "client", "n", "failed", "TTFT p50 / p99, ms", "truth", "error", "latency p50 / p99, ms", "truth",
    "error", "rate", "truth", "tokens", "truth", "cpu, s", "us an event",
)  # fmt: skip


def row(level: int, client: str, runs: list[Run]) -> list[str]:
    """Medians of the runs."""

    def pair(name: str) -> str:
        places = zip(*(getattr(run, name) for run in runs), strict=True)
        return " / ".join(f"{median(place):,.2f}" for place in places)

    def one(name: str, form: str) -> str:
        return format(median(getattr(run, name) for run in runs), form)

    return [
        str(level), client, str(sum(run.n for run in runs)), str(sum(run.failed for run in runs)),
        pair("ttft"), pair("ttft_truth"), pair("ttft_error"),
        pair("latency"), pair("latency_truth"), pair("latency_error"),
        one("rate", ".2f"), one("rate_truth", ".2f"), one("output", ",.0f"), one("output_truth", ",.0f"),
        one("cpu_s", ".1f"), one("event_us", ".0f"),
    ]  # fmt: skip


def fire(client: str, scenario: str, load: Load) -> Run:
    """One run of a client on a target of its own."""
    first, *others = (str(core) for core in sorted(os.sched_getaffinity(0)))
    beside = pinned(",".join(others or [first]))
    with simulator(SCENARIOS[scenario] + EXACT, pinned(first)) as sim:
        seen, failed, cpu_s = CLIENTS[client](sim, load, beside)
        truth = {row[NAMES[client]]: row for row in sim.rows(load.requests + load.warmup)}
    return replace(compared(seen, truth), failed=failed, cpu_s=cpu_s)


def pinned(cores: str) -> list[str]:
    """Words before a command that keep it on these cores."""
    return ["taskset", "-c", cores] if shutil.which("taskset") else []


def ours(sim: Simulator, load: Load, before: Sequence[str]) -> tuple[list[Seen], int, float]:
    """The installed command, one worker in its own process: what its records say."""
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "agreement.toml"
        plan.write_text(PLAN.format(
            root=ROOT, model=MODEL, url=sim.url, concurrency=load.concurrency, warmup=load.warmup,
            repetitions=max(1, load.requests // QUESTIONS),
        ))  # fmt: skip
        limit = ["--limit", "1"] if load.requests < QUESTIONS else []
        command = [*before, sys.executable, "-c", "from loadrig.cli import main; main()", "run", str(plan), "--inline"]
        cpu_s, _ = waited([*command, *limit, "--out", str(Path(folder) / "out")], Path(folder))
        (run,) = (Path(folder) / "out").iterdir()
        records = [record for record in read_run(run).records if record.phase != "warmup"]
    good = [record for record in records if record.outcome == "answered"]
    seen = [
        Seen(
            f"{record.trial}.1.1", turn.attempts[0].begin_ns, turn.attempts[0].end_ns,
            (turn.ttft_ns or 0) / 1e6, (turn.service_ns or 0) / 1e6, (turn.usage.output if turn.usage else None) or 0,
        )
        for record in good for turn in record.turns
    ]  # fmt: skip
    return seen, len(records) - len(good), cpu_s


def theirs(sim: Simulator, load: Load, before: Sequence[str]) -> tuple[list[Seen], int, float]:
    """AIPerf: what it exports."""
    questions = [json.loads(line)["question"] for line in (ROOT / "questions/tiny.jsonl").read_text().splitlines()]
    path = program("aiperf")
    assert path is not None
    run = aiperf(path, sim.url, load, model=MODEL, texts=questions, before=before)
    seen = [
        Seen(
            record.id, record.begin_ns, record.end_ns,
            (record.ttft_ns or 0) / 1e6, (record.latency_ns or 0) / 1e6, record.output or 0,
        )
        for record in run.records
    ]  # fmt: skip
    return seen, len(run.refused), run.cpu_s


CLIENTS = {"loadrig": ours, "aiperf": theirs}
NAMES = {"loadrig": "attempt", "aiperf": "client_request_id"}


def compared(seen: list[Seen], truth: dict[str, dict[str, Any]]) -> Run:
    """Each request against its row of the log."""
    rows = [truth[one.name] for one in seen]
    first = [(row["first_token_ns"] - row["received_ns"]) / 1e6 for row in rows]
    whole = [(row["end_ns"] - row["received_ns"]) / 1e6 for row in rows]
    took_s = (max(one.end_ns for one in seen) - min(one.begin_ns for one in seen)) / 1e9
    truly_s = (max(row["end_ns"] for row in rows) - min(row["received_ns"] for row in rows)) / 1e9
    ttft, latency = [one.ttft_ms for one in seen], [one.latency_ms for one in seen]
    return Run(
        n=len(seen),
        ttft=ends(ttft),
        ttft_truth=ends(first),
        ttft_error=ends([one - true for one, true in zip(ttft, first, strict=True)]),
        latency=ends(latency),
        latency_truth=ends(whole),
        latency_error=ends([one - true for one, true in zip(latency, whole, strict=True)]),
        rate=len(seen) / took_s,
        rate_truth=len(seen) / truly_s,
        output=sum(one.output for one in seen),
        output_truth=sum(row["output"] for row in rows),
    )


def ends(values: list[float]) -> tuple[float, float]:
    """p50 and p99, by nearest rank."""
    ordered = sorted(values)
    return tuple(ordered[-(-len(ordered) * p // 100) - 1] for p in (50, 99))  # type: ignore[return-value]


if __name__ == "__main__":
    sys.exit(main())
