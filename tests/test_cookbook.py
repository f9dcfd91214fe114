"""docs/cookbook.md, index.md, doctor.md and nightly.md: every command works as written, made small, in its order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import Called, here
from test_readme import COMMANDS as IN_README

ROOT = Path(__file__).resolve().parents[1]
SMALL = {
    "run": ["--limit", "1", "--inline", "--one-pass"],
    "sweep": ["--limit", "1", "--inline", "--one-pass"],
    "nightly": ["--limit", "1", "--inline", "--one-pass"],
    "plan": ["--limit", "1"],
}
PAGES = ("cookbook.md", "index.md", "doctor.md", "nightly.md")


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text()


def commands_of(page: str) -> list[str]:
    lines = [line.strip() for line in text_of(page).splitlines() if line.startswith("    .venv/bin/loadrig ")]
    return [line.partition("  #")[0].strip() for line in lines]


def called(line: str, home: Path) -> Called:
    """`RUN` stands for the one run below the folder before it."""

    def only(found: re.Match[str]) -> str:
        (run,) = (path.name for path in (home / found[1]).iterdir() if path.is_dir())
        return f"{found[1]}/{run}"

    words = shlex.split(re.sub(r"([\w/]+)/RUN", only, line))[1:]
    return here(*words, *SMALL.get(words[0], []))


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the project and keeps its own results, with the page's own files in it."""
    for name in ("plans", "corpora", "questions"):
        (tmp_path / name).symlink_to(ROOT / name)
    for kind, language in (("py", "python"), ("toml", "toml")):
        for block in re.findall(rf"^```{language}\n(.*?)^```", text_of("cookbook.md"), re.MULTILINE | re.DOTALL):
            (tmp_path / f"shouting.{kind}").write_text(block)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_cookbook_has_its_recipes() -> None:
    """Doctor, sweep, search, nightly, two runs and a gate, own corpus, own arm: none goes untested."""
    found = [line.split()[1] for line in commands_of("cookbook.md")]
    assert found == [
        "doctor", "doctor", "sweep", "sweep", "nightly", "run", "run", "compare", "corpus", "corpus", "advise", "run",
        "run",
    ]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works(page: str, at_home: Path) -> None:
    """One after the other, as a reader would type them: exit code 0, no traceback. What the README or an earlier page
    has, too, is run there."""
    elsewhere = {*IN_README, *(line for earlier in PAGES[: PAGES.index(page)] for line in commands_of(earlier))}
    for line in (line for line in commands_of(page) if line not in elsewhere):
        done = called(line, at_home)
        assert done.code == 0, f"{line}\n{done.out}\n{done.err}"
        assert "Traceback" not in done.err
    if page == "cookbook.md":
        assert "shouting-3" in done.out
