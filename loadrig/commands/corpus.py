"""`loadrig corpus stats|check`: a corpus in numbers, and its questions held against its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from loadrig import corpus as corpora
from loadrig import questions as question_files
from loadrig.commands.firing import DONE, FAILED
from loadrig.corpus import checks
from loadrig.corpus.loading import other_files
from loadrig.graders.precheck import passes
from loadrig.words.settings import CorpusSettings, QuestionSettings


def stats(path: str, slice_name: str | None) -> None:
    """Prints the figures of a corpus, the files that were skipped, and how many others lie beside them."""
    corpus = corpora.load(CorpusSettings(path=path, slice=slice_name))
    figures = checks.stats(corpus)
    console = Console()
    table = Table("figure", "value", title=Text(corpus.name))
    for field in fields(figures):
        table.add_row(field.name.replace("_", " "), Text(_shown(getattr(figures, field.name))))
    others = Counter(Path(name).suffix.lower() or "no suffix" for name in other_files(Path(path)))
    table.add_row("other files, not read", Text(_shown(others)))
    console.print(table)
    for file in corpus.skipped:
        console.print(Text(f"skipped {file.path}: {file.reason}"))


def _shown(value: object) -> str:
    """A figure; of counts by name each with its own, `-` when there are none."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {count}" for name, count in value.items()) or "-"
    return "-" if value is None else str(value)


def check(path: str, questions: str, slice_name: str | None) -> int:
    """Prints each finding on a line; 1 when there is one."""
    corpus = corpora.load(CorpusSettings(path=path, slice=slice_name))
    asked = question_files.select(QuestionSettings(path=questions), corpus)
    findings = checks.check(corpus, asked.questions, passes)
    console = Console()
    for finding in findings:
        console.print(Text(f"{finding.question}: {finding.fault}: {finding.detail}"))
    left_out = f", {len(asked.left_out)} left out of this slice" if asked.left_out else ""
    console.print(f"{len(asked.questions)} questions{left_out}, {len(findings)} findings")
    return FAILED if findings else DONE
