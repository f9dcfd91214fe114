"""Two real runs of the command at once, a sweep with failures in a closed loop and an open one, seen by two
Prometheus that read the shipped configuration: one that scrapes every two seconds, and one that is about as slow
against them as 15 s are against two minutes."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
from command import LOADRIG
from prometheus_server import at, prometheus

from loadrig.live.dashboards.setup import Setup, write

FAST_S, SLOW_S = 2, 5
PATIENCE_S = 120  # for a run to end, and for its last totals to be scraped
SCENARIO = """\
slots = 3
base_ms = 60
decode_ms_per_token = 1.5
thinking_tokens = 12
rate_429 = 0.06
rate_529 = 0.06
rate_cut = 0.03
retry_after_s = 1
"""
PLAN = """\
name = "NAME"
allowed_failure_share = 1.0
[corpus]
path = "corpora/tiny"
[questions]
path = "questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "FOLDER/scenario.toml"
ARMS
[retry]
attempts = 1
[load]
LOAD
workers = 1
"""
ARMS = """\
[[arm]]
kind = "rag"
k = 5
[[arm]]
kind = "full_context"
cache = "5m"
[[arm]]
kind = "agentic"
"""
SWEEP = {"NAME": "steps", "ARMS": ARMS, "LOAD": "concurrency = [1, 2, 6]\nduration_s = 14\nwarmup = 2"}
OPEN = {"NAME": "arrivals", "ARMS": '[[arm]]\nkind = "rag"\nk = 5', "LOAD": "rate = [2.0]\nduration_s = 36\nwarmup = 2"}


@dataclass(frozen=True)
class Ran:
    """A run that has ended: its id, and what its summary says."""

    run: str
    summary: dict[str, Any]


@dataclass(frozen=True)
class TwoRuns:
    """Both runs, the addresses of both Prometheus, and when all began and ended (Unix seconds)."""

    sweep: Ran
    open: Ran
    fast: str
    slow: str
    start_s: float
    end_s: float

    @property
    def span_s(self) -> float:
        return self.end_s - self.start_s


@contextmanager
def two_runs(folder: Path) -> Iterator[TwoRuns]:
    """Fires both, waits for their ends, and keeps what was scraped to be asked for."""
    (folder / "scenario.toml").write_text(SCENARIO)
    with ExitStack() as stack:
        start_s = time.time()
        processes = [stack.enter_context(_fired(folder, words)) for words in (SWEEP, OPEN)]
        for process in processes:
            stack.callback(process.kill)
        addresses = tuple(map(_address, processes))
        servers = []
        for name, interval_s in (("fast", FAST_S), ("slow", SLOW_S)):
            home = folder / name
            write(Setup(targets=addresses, interval_s=interval_s), home)
            servers.append(stack.enter_context(prometheus(home, home / "prometheus.yml")))
        for process, address in zip(processes, addresses, strict=True):
            _heard(process, r"metrics stay at (\S+) for")
            for server in servers:
                _seen(server, address)
        for process in processes:
            process.send_signal(signal.SIGINT)  # ends the wait for scrapers, not the run
            _, told = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0, told
        ended = [_ran(folder / words["NAME"]) for words in (SWEEP, OPEN)]
        yield TwoRuns(ended[0], ended[1], servers[0], servers[1], start_s, time.time())


def _fired(folder: Path, words: dict[str, str]) -> subprocess.Popen[str]:
    text = PLAN
    for name, value in words.items():
        text = text.replace(name, value)
    path = folder / f"{words['NAME']}.toml"
    path.write_text(text.replace("FOLDER", str(folder)))
    out = folder / words["NAME"]
    flags = ["--out", str(out), "--metrics-port", "0", "--linger", str(PATIENCE_S)]
    return subprocess.Popen(
        [*LOADRIG, "run", str(path), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def _address(process: subprocess.Popen[str]) -> str:
    """Of the metrics: host and port, as the run tells them."""
    return _heard(process, r"metrics at http://([^/]+)/")


def _heard(process: subprocess.Popen[str], pattern: str) -> str:
    """Waits until the run says it."""
    assert process.stderr is not None
    return next(found[1] for line in process.stderr if (found := re.search(pattern, line)))


def _seen(server: str, address: str) -> None:
    """Waits until a Prometheus has the last totals of a run that serves no others any more."""
    counts = re.findall(r"^loadrig_trials_total{.*} (\S+)$", httpx.get(f"http://{address}/metrics").text, re.MULTILINE)
    expected, deadline = sum(map(float, counts)), time.monotonic() + PATIENCE_S
    query = f'sum(loadrig_trials_total{{instance="{address}"}})'
    while [value for _, value in at(server, query, time.time())] != [expected]:
        assert time.monotonic() < deadline, f"{server} has not seen {expected:g} trials"
        time.sleep(0.2)


def _ran(results: Path) -> Ran:
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return Ran(folder.name, msgspec.json.decode((folder / "summary.json").read_bytes()))
