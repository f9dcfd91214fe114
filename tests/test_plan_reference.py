"""docs/plan-reference.md says what the code reads: made from it, byte for byte, with nothing left out."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from loadrig.arms import ARMS
from loadrig.commands.plan_reference import reference
from loadrig.retrievers import RETRIEVERS, kind_named
from loadrig.words import settings, study

PAGE = Path(__file__).resolve().parents[1] / "docs" / "plan-reference.md"


@pytest.fixture(scope="module")
def page() -> str:
    return reference()


def test_the_page_is_what_the_code_makes(page: str) -> None:
    """Made again by `make plan-reference` whenever a key, a default or a docstring changes."""
    assert PAGE.read_text() == page, "run: make plan-reference"


def test_every_key_of_every_table_has_a_row(page: str) -> None:
    """Those of the plan's own classes."""
    named = {**vars(settings), **vars(study)}
    tables = [one for name, one in named.items() if name.endswith(("Settings", "Limits"))]
    keys = {field.name for table in tables for field in fields(table)}
    rows = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    inner = {"limits", "known", "run"}  # tables of their own
    assert (keys - inner - rows, len(tables) > 11) == (set(), True)


def test_every_arm_and_retriever_has_a_section_with_its_options(page: str) -> None:
    """By the name that a plan uses."""
    for name in ARMS:
        assert f'### `kind = "{name}"`' in page
    for name in RETRIEVERS:
        section = page.split(f'### `kind = "{name}"`')[1].split("\n##", maxsplit=1)[0]
        assert {field.name for field in fields(kind_named(name))} == {
            line.split("`")[1] for line in section.splitlines() if line.startswith("| `")
        }


@pytest.mark.parametrize("row", [
    '| `fleet` | `"inline"`, `"process"`, `"ray"` |', "| `max_tokens` | whole number, at least 1 | `2000` |",
    "| `id` | text | *required* |", "| `path` | text, not empty |  |", "| `probe` | true or false | `true` |",
    "| `headers` | table of: text |  |", "| `concurrency` | list of: whole number, at least 1, not empty |",
])  # fmt: skip
def test_kinds_limits_and_defaults_are_told_in_words(page: str, row: str) -> None:
    """One of each sort."""
    assert row in page
