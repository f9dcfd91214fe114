"""One run of AIPerf against a Messages endpoint, and its records as it exports them, one a request.

Token counts are those the endpoint reports; the tokenizer it wants all the same is the table that loadrig keeps for
machines without a network. Knows nothing else of loadrig.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class AiperfRecord:
    """`id`: the header x-request-id it sent. Instants are of the wall clock; times in ns, None where it has none."""

    id: str
    begin_ns: int
    end_ns: int
    ttft_ns: float | None
    latency_ns: float | None
    output: int | None


@dataclass(frozen=True)
class AiperfRun:
    """`cpu_s`: of all its processes together. `refused`: requests it calls errors, in its own words."""

    records: list[AiperfRecord]
    refused: list[str]
    cpu_s: float
    wall_s: float


@dataclass(frozen=True)
class Load:
    """Requests in flight, requests in all, and those before them that do not count."""

    concurrency: int
    requests: int
    warmup: int = 0


def aiperf(
    program: str, url: str, load: Load, *, model: str, texts: Iterable[str], before: Sequence[str] = ()
) -> AiperfRun:
    """Runs it with `texts` as prompts, in turn. `before`: words before the command, such as those that pin it. Raises
    CalledProcessError when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        prompts, out = Path(folder) / "prompts.jsonl", Path(folder) / "out"
        prompts.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        command = [
            *before, program, "profile", "--model", model, "--url", url, "--endpoint-type", "messages", "--streaming",
            "--concurrency", str(load.concurrency), "--request-count", str(load.requests), "--input-file", str(prompts),
            "--custom-dataset-type", "single_turn", "--use-server-token-count", "--tokenizer", "builtin",
            "--output-artifact-dir", str(out), "--ui", "none", "--no-gpu-telemetry", "--no-server-metrics",
        ]  # fmt: skip
        command += ["--warmup-request-count", str(load.warmup)] if load.warmup else []
        usage, wall_s = waited(command, Path(folder))
        lines = [json.loads(line) for line in (out / "profile_export.jsonl").read_text().splitlines()]
    measured = [line for line in lines if line["metadata"].get("benchmark_phase") == "profiling"]
    good = [record_of(line) for line in measured if not line.get("error")]
    return AiperfRun(good, [json.dumps(line["error"]) for line in measured if line.get("error")], usage, wall_s)


def waited(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of a command and all it waited for, and how long it took."""
    log = folder / "log.txt"
    with log.open("wb") as output:
        began = os.times().elapsed
        table = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loadrig" / "tiktoken"
        environment = {**({"TIKTOKEN_CACHE_DIR": str(table)} if table.is_dir() else {}), **os.environ}
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, log.read_text(errors="replace")[-2_000:])
    return usage.ru_utime + usage.ru_stime, os.times().elapsed - began


def record_of(line: dict[str, Any]) -> AiperfRecord:
    """One line of profile_export.jsonl."""
    metadata, metrics = line["metadata"], line["metrics"]
    return AiperfRecord(
        metadata.get("x_request_id", ""),
        metadata["request_start_ns"],
        metadata["request_end_ns"],
        _ns(metrics.get("time_to_first_token")),
        _ns(metrics.get("request_latency")),
        (metrics.get("output_sequence_length") or metrics.get("output_token_count") or {}).get("value"),
    )


def _ns(metric: dict[str, Any] | None) -> float | None:
    return None if metric is None else metric["value"] * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[metric["unit"]]
