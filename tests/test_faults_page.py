"""docs/faults.md is complete: every fault of its eight groups once, each with a test (they exist: test_docs.py)."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs/faults.md"
GROUPS = {"A": 8, "B": 5, "C": 10, "D": 11, "E": 9, "F": 9, "G": 12, "H": 7, "I": 8}


def test_every_fault_has_its_line_and_a_test() -> None:
    """A1 to I8 in order, 79 of them, each line with at least one test."""
    lines = re.findall(r"^\| ([A-I]\d+) \|.*\| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [name for name, _ in lines] == [
        f"{group}{n}" for group, count in GROUPS.items() for n in range(1, count + 1)
    ]
    assert all("::test_" in tests for _, tests in lines)
