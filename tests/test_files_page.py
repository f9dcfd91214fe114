"""docs/files.md: every field of a record, every column of a sheet and every file of a run, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loadrig.reports import FILES, answers, costs
from loadrig.words.corpus import Hit
from loadrig.words.prompt import Citation
from loadrig.words.record import Attempt, Failure, Gaps, Record, ToolCall, Turn, Usage

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "files.md").read_text()
KINDS = (Record, Turn, Attempt, Usage, Gaps, ToolCall, Failure, Hit, Citation)
NAME = re.compile(r"`([^`]+)`")


def named(heading: str) -> list[str]:
    """What the first column of the table under a heading names."""
    part = f"\n{PAGE}".split(f"\n{heading}\n", 1)[1].split("\n#", 1)[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in NAME.findall(row)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_the_table_of_a_kind_names_its_fields(kind: Any) -> None:
    """As they stand in the file, each once."""
    fields = [field.encode_name for field in msgspec.inspect.type_info(kind).fields]  # type: ignore[attr-defined]
    assert sorted(named(f"### {kind.__name__}")) == sorted(fields)


def test_the_columns_of_both_sheets_are_named_in_order() -> None:
    """cost.csv by its table, answers.csv by its list."""
    assert named("## cost.csv") == list(costs.HEADERS)
    listed = PAGE.split("Every column: ", 1)[1].split(".", 1)[0]
    assert NAME.findall(listed) == list(answers.HEADERS)


def test_every_file_that_a_report_writes_is_named() -> None:
    """The table of files has them all."""
    assert set(FILES) <= set(named("# The files of a run"))
