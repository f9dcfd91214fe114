"""Runs the installed command in a process of its own, as a user does, or in this one."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from loadrig.cli import main
from loadrig.log import RunFolder, read_run

LOADRIG = [sys.executable, "-c", "from loadrig.cli import main; main()"]
FAST = "base_ms = 40\ndecode_ms_per_token = 1.5\n"
QUICK = """\
name = "quick"
[corpus]
path = "corpora/tiny"
[questions]
path = "questions/tiny.jsonl"
[[model]]
id = "claude-haiku-5-5"
base_url = "simulator"
scenario = "SCENARIO"
[[arm]]
kind = "control"
[[arm]]
kind = "rag"
k = [1, 5]
[[arm]]
kind = "full_context"
[[arm]]
kind = "agentic"
[load]
concurrency = [4]
warmup = 2
workers = 1
cycle = false
"""


@dataclass(frozen=True)
class Called:
    """What a command left behind."""

    code: int
    out: str
    err: str


def loadrig(*arguments: object, timeout_s: float = 120) -> Called:
    """The command's exit code and output."""
    done = subprocess.run(
        [*LOADRIG, *map(str, arguments)], capture_output=True, text=True, timeout=timeout_s, check=False
    )
    return Called(done.returncode, done.stdout, done.stderr)


def here(*arguments: object) -> Called:
    """The same in this process, a second quicker: for commands that leave nothing behind in it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    return Called(int(left.value.code or 0), out.getvalue(), err.getvalue())


def write_plan(folder: Path, text: str = QUICK) -> Path:
    """The plan as a file, and beside it the scenario it names: a simulator quicker than any shipped."""
    path = folder / "quick.toml"
    (folder / "fast.toml").write_text(FAST)
    path.write_text(text.replace("SCENARIO", str(folder / "fast.toml")))
    return path


def only_run(results: Path) -> RunFolder:
    """The one run below `results`."""
    (folder,) = (path for path in results.iterdir() if path.is_dir())
    return read_run(folder)
