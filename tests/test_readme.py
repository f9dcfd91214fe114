"""Every command in the README works as written, made small: one question, one pass, one worker in this process, and
stages of a rate, which last as long whatever the questions, five seconds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from command import loadrig

from loadrig.config import read_plan
from loadrig.words import settings

ROOT = Path(__file__).resolve().parents[1]
LINES = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("    ")]
COMMANDS = [line.partition("#")[0].strip() for line in LINES if line.startswith(".venv/bin/loadrig ")]
SMALL = {
    "plan": ["--limit", "1"],
    "run": ["--limit", "1", "--inline", "--one-pass"],
    "sweep": ["--limit", "1", "--inline", "--one-pass"],
    "nightly": ["--limit", "1", "--inline", "--one-pass"],
    "study": ["--limit", "1", "--repetitions", "1", "--inline"],
    "corpus": [],
    "advise": [],
    "doctor": [],
}
TABLES = [one for name, one in vars(settings).items() if name.endswith("Settings") or name == "Plan"]


@contextmanager
def _simulator() -> Iterator[str]:
    command = [sys.executable, "-m", "loadrig.simulator", "--port", "0", "--exit-with-parent"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[1]
        process.terminate()


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the project and keeps its own results."""
    for name in ("plans", "corpora", "questions"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_has_its_commands() -> None:
    """The kinds of command below are all there, so that none goes untested by being written another way."""
    assert {line.split()[1] for line in COMMANDS} == SMALL.keys()
    assert "`loadrig run --help`" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("line", [line for line in COMMANDS if "--resume" not in line])
def test_a_command_of_the_readme_works(line: str, at_home: Path) -> None:
    """Exit code 0 and no traceback; the real endpoint's address is replaced by a simulator's."""
    with _simulator() as url:
        words = shlex.split(re.sub(r"https://\S+", url, line))[1:]
        small = [*SMALL[words[0]], *(["--duration", "5"] if "--rate" in words else [])]
        called = loadrig(*words, *[flag for flag in small if flag not in words or flag.isdigit()])
    assert called.code == 0, called.err
    assert "Traceback" not in called.err
    if words[0] == "nightly":
        assert "USD a question" in (at_home / "results" / "nightly-nightly.md").read_text()


def test_the_readmes_resume_takes_up_a_run(at_home: Path) -> None:
    """The line with --resume, given the folder of a finished run, finds nothing missing and says so."""
    (line,) = (line for line in COMMANDS if "--resume" in line)
    first = loadrig("run", "plans/quickstart.toml", *SMALL["run"])
    assert first.code == 0, first.err
    (folder,) = (at_home / "results").iterdir()
    called = loadrig(*shlex.split(line.replace("results/RUN", f"results/{folder.name}"))[1:], *SMALL["run"])
    assert called.code == 2
    assert "nothing is missing" in called.err


def test_the_demo_asks_for_no_more_than_one_cpu() -> None:
    """Two workers at half a CPU each: the first command a newcomer runs is not refused on a small machine."""
    load = read_plan(ROOT / "plans" / "quickstart.toml").load
    assert load.workers * load.cpus_per_worker == 1


def test_the_plan_shown_in_full_is_a_plan(at_home: Path) -> None:
    """The long example parses, and so does every key that its comments name."""
    start = LINES.index('name = "quickstart"')
    end = max(number for number, line in enumerate(LINES) if line.startswith("[prices]"))
    (at_home / "full.toml").write_text("\n".join(LINES[start : end + 1]))
    called = loadrig("plan", "full.toml")
    assert called.code == 0, called.err


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_plan_shown_in_full_names_every_key(table: type[Any]) -> None:
    """The README says "all of it", so a key that is not there would be looked for in vain."""
    text = (ROOT / "README.md").read_text()
    shown = set(re.findall(r"\w+", text[text.index("## A plan") : text.index("## What comes out")]))
    assert {field.name for field in fields(table)} - shown - {"arms"} == set()  # written as [[arm]], resolved to arms
