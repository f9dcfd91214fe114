"""`loadrig report RUN`: the reports of a run made again from its records."""

from __future__ import annotations

from pathlib import Path

from loadrig.reports import write_all
from loadrig.reports.terminal import show


def report(folder: Path) -> None:
    """Writes every report of the run and prints its table."""
    show(write_all(folder))
