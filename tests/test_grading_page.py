"""The commands of docs/grading.md work as written, in the order of the page, on a small run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command import QUICK, here, loadrig, only_run, write_plan
from graded_runs import filled, right

PAGE = Path(__file__).resolve().parents[1] / "docs" / "grading.md"
COMMANDS = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    .venv/bin/loadrig ")]


def test_the_page_works_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command exits with 0; between export and import the sheet is filled in; the real endpoint is simulated."""
    plan = write_plan(tmp_path, QUICK)
    assert loadrig("run", plan, "--out", tmp_path / "results", "--arm", "rag", "--limit", "2").code == 0
    folder = only_run(tmp_path / "results").path
    monkeypatch.chdir(tmp_path)
    kinds = set()
    for line in COMMANDS:
        words = shlex.split(re.sub(r"https://\S+", "simulator", line.replace("results/RUN", str(folder))))[1:]
        if "import" in words:
            filled(tmp_path / "sheet.csv", right)
        called = here(*words)
        assert called.code == 0, f"{line}\n{called.err}"
        kinds.add(words[2] if words[0] == "grade" else words[0])
    assert kinds == {"auto", "export", "import", "judge", "report"}
    assert "## Accuracy by the sheet of anna" in (folder / "report.md").read_text()
