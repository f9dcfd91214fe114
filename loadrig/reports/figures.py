"""summary.json: the summary as strict JSON, for programs."""

from __future__ import annotations

from pathlib import Path

from loadrig.analysis.summary import Summary
from loadrig.log import RunFolder, write_json


def write(run: RunFolder, summary: Summary) -> Path:
    """Writes summary.json into the run's folder."""
    path = run.path / "summary.json"
    write_json(path, summary)
    return path
