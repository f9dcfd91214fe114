"""What README and docs/ name exists: tests, files, links, metrics, fields and flags."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from loadrig.arms import ARMS
from loadrig.live.metrics import Metrics

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

TEST = re.compile(r"`(?P<path>[\w./-]*)::(?P<name>\w+)`")  # `::name` is of the file named before it on the line
FILE = re.compile(
    r"(?<![\w/.-])(?:loadrig|tests|docs|plans|corpora|questions|dashboards|benchmarks)/(?:[\w.-]+/?)*(?<![.-])"
)
LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#\s]*)(?:#(?P<heading>[^)]*))?\)")
BLOCK = re.compile(r"^```.*?^```|^    .*?$", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"`([a-z]+(?:_[a-z0-9]+)+)`")
FLAG = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)")
PLACEHOLDER = re.compile(r"\b(NAME|RUN|PLAN)\b")


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the test functions of a file."""
    tree = ast.parse(path.read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


@cache
def code() -> str:
    """All that loadrig is made of, as one text, file names included, with the questions that come with it."""
    files = [path for suffix in ("py", "toml") for path in sorted((ROOT / "loadrig").rglob(f"*.{suffix}"))]
    files += sorted((ROOT / "questions").glob("*.jsonl"))
    return "\n".join(f"{path.stem}\n{path.read_text()}" for path in files)


def named_tests(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        path = ""
        for found in re.finditer(rf"{TEST.pattern}|`(?P<file>tests/[\w./-]+\.py)`", line):
            path = found["file"] or found["path"] or path
            if found["name"]:
                yield path, found["name"]


@each_page
def test_every_test_named_is_there(page: Path) -> None:
    """A test that was renamed or dropped is no longer what stands for a promise."""
    gone = [
        f"{path}::{name}"
        for path, name in named_tests(page.read_text())
        if not (ROOT / path).is_file() or name not in functions_of(ROOT / path)
    ]
    assert gone == []


@each_page
def test_every_file_named_is_there(page: Path) -> None:
    """Files and folders of the repository, in the text and in its examples."""
    named = {found.group() for found in FILE.finditer(page.read_text())}
    assert sorted(name for name in named if not PLACEHOLDER.search(name) and not (ROOT / name).exists()) == []


@each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    """To a file that is there and, where it names one, to a heading in it."""

    def leads(path: str, heading: str | None) -> bool:
        target = page.parent / path if path else page
        return target.exists() and (not heading or heading in headings(target))

    links = [(found["path"], found["heading"]) for found in LINK.finditer(page.read_text())]
    assert [link for link in links if not leads(*link)] == []


def headings(page: Path) -> set[str]:
    """The anchors of a page: its headings in small letters, blanks as dashes."""
    found = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in found}


@each_page
def test_every_field_named_is_in_the_code(page: Path) -> None:
    """Names of fields and options, written as code with an underscore, occur as words in it."""
    words = set(re.findall(r"\w+", code()))
    named = {found for found in FIELD.findall(BLOCK.sub("", page.read_text())) if not found.startswith("loadrig_")}
    assert sorted(named - words) == []


@each_page
def test_every_flag_named_is_in_the_code(page: Path) -> None:
    """A flag stands in the code as it is written, or as the name of a command's option."""
    flags = {found for found in FLAG.findall(page.read_text()) if f"--{found}" not in code()}
    commands = (ROOT / "loadrig" / "cli.py", *(ROOT / "loadrig" / "commands").glob("*_app.py"))
    words = {word for path in commands for word in re.findall(r"\w+", path.read_text())}
    assert sorted(flag for flag in flags if flag.replace("-", "_") not in words) == []


def test_the_page_of_metrics_lists_what_is_exported() -> None:
    """Every metric, by its name as scraped, and no other."""
    ends = {"counter": "_total", "info": "_info"}
    exported = {family.name + ends.get(family.type, "") for family in Metrics().registry.collect()}
    assert set(re.findall(r"loadrig_[a-z0-9_]+", (ROOT / "docs" / "metrics.md").read_text())) == exported


def test_the_page_of_arms_lists_every_arm_with_its_options() -> None:
    """One row a kind; the two options that most share stand under the table."""
    text = (ROOT / "docs" / "arms.md").read_text()
    rows = {
        kind: set(re.findall(r"`(\w+)`", rest)) for kind, rest in re.findall(r"^\| `(\w+)` \|(.*)$", text, re.MULTILINE)
    }
    options = {
        kind: {field.name for field in fields(attrgetter(name)(import_module(module)))} - {"chronology", "rejected"}
        for kind, (module, name) in ((kind, target.split(":")) for kind, target in ARMS.items())
    }
    tables = set(ARMS)  # arms as options of others
    assert {kind: found - tables for kind, found in options.items()} == {
        kind: found & options.get(kind, set()) - tables for kind, found in rows.items()
    }


def test_no_id_stands_in_a_part_of_the_checklist_twice() -> None:
    """One row each, so that there is one place to look."""
    parts = (ROOT / "docs" / "checklist.md").read_text().split("\n## ")[1:]
    ids = [re.findall(r"^\| ([A-M]-?\d+)(?=[ ,])", part, re.MULTILINE) for part in parts]
    assert sum(map(len, ids)) > 100
    assert [sorted({one for one in part if part.count(one) > 1}) for part in ids] == [[]] * len(ids)
